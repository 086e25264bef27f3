#!/bin/sh
# Makes every secret of this installation, once: a file that is there stays as it is. Each file belongs to the user of the image that reads it,
# and nobody else but root can. Runs as root in Hookline's image.
set -eu
umask 077

HOOKLINE=1000 TEMPORAL=1000 MONGODB=999 POSTGRESQL=999 GRAFANA=472

# keep FILE OWNER COMMAND…: what the command prints becomes the file. It is written beside it first, so that a file that is there is whole.
keep() {
  file=$1 owner=$2
  shift 2
  [ -s "$file" ] && return
  "$@" >"$file.new"
  chown "$owner" "$file.new"
  chmod 400 "$file.new"
  mv "$file.new" "$file"
  echo "Made $file"
}

random() { node -p 'require("node:crypto").randomBytes(24).toString("hex")'; }
# The members of a MongoDB replica set prove with it that they belong together: base64, at most 1,024 characters.
member_key() { node -p 'require("node:crypto").randomBytes(384).toString("base64")'; }
mongodb_uri() { echo "mongodb://hookline:$(cat /keys/mongodb/hookline.password)@mongodb:27017/hookline?replicaSet=rs0"; }

keep /keys/mongodb/member.key "$MONGODB" member_key
keep /keys/mongodb/root.password "$MONGODB" random
keep /keys/mongodb/hookline.password "$MONGODB" random

keep /keys/hookline/secret.keys "$HOOKLINE" hookline secret-key
keep /keys/hookline/payload.keys "$HOOKLINE" hookline secret-key
keep /keys/hookline/wrapping.keys "$HOOKLINE" hookline secret-key
keep /keys/hookline/mongodb.uri "$HOOKLINE" mongodb_uri

keep /keys/temporal/postgresql.password "$POSTGRESQL" random
keep /keys/temporal/temporal.password "$TEMPORAL" cat /keys/temporal/postgresql.password

keep /keys/grafana/admin.password "$GRAFANA" random
