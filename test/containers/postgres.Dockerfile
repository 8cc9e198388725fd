# Stand-in for postgres: Debian's PostgreSQL with as much of the image's entry point as the compose project uses.
FROM localhost/sitewright-stand-in/debian
RUN apt-get update \
  && apt-get install --yes --no-install-recommends postgresql-common \
  && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf \
  && apt-get install --yes --no-install-recommends postgresql \
  && rm -rf /var/lib/apt/lists/* \
  && for program in /usr/lib/postgresql/*/bin/*; do ln -sf "$program" /usr/local/bin/; done \
  && mkdir -p /docker-entrypoint-initdb.d /var/lib/postgresql/data \
  && chown postgres:postgres /var/lib/postgresql/data /run/postgresql
COPY postgres-entrypoint /usr/local/bin/docker-entrypoint
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint"]
