#!/bin/bash
# The store's own role and database. PostgreSQL's image runs this once, when its data folder is new.
set -euo pipefail

psql --no-psqlrc --set ON_ERROR_STOP=1 --set password="$SITEWRIGHT_DATABASE_PASSWORD" --username "$POSTGRES_USER" --dbname postgres <<'SQL'
create role sitewright login password :'password';
create database sitewright owner sitewright;
SQL
