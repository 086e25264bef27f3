#!/bin/sh
# Makes Temporal's two databases, or brings them to the version of this image. May be run any number of times.
set -eu

SQL_PASSWORD=$(cat "$SQL_PASSWORD_FILE")
export SQL_PASSWORD

update() {
  temporal-sql-tool --db "$1" update-schema -d "/etc/temporal/schema/postgresql/v12/$2/versioned"
}

prepare() {
  update "$1" "$2" && return
  echo "There is no database $1 yet: making it."
  temporal-sql-tool --db "$1" create
  temporal-sql-tool --db "$1" setup-schema -v 0.0
  update "$1" "$2"
}

prepare temporal temporal
prepare temporal_visibility visibility
