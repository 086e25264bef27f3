#!/bin/sh
# The image takes the password of its database from the environment alone.
set -eu
POSTGRES_PWD=$(cat "$POSTGRES_PWD_FILE")
export POSTGRES_PWD
exec /etc/temporal/entrypoint.sh
