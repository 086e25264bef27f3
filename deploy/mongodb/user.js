// Run by the image once, when the database is empty, before it listens to others: the user that Hookline logs in as.
db.createUser({
  user: 'hookline',
  pwd: require('node:fs').readFileSync('/run/keys/hookline.password', 'utf8').trim(),
  // The second one changes how long documents are kept.
  roles: [
    { role: 'readWrite', db: 'hookline' },
    { role: 'dbAdmin', db: 'hookline' },
  ],
});
