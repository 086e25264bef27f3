/** The version of this software, as in `package.json`. */
export const RELEASE = '0.2.0';
