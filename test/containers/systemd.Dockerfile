# A Debian that boots with systemd, to install our packages on.
FROM localhost/sitewright-stand-in/debian
RUN apt-get update \
  && apt-get install --yes --no-install-recommends dbus procps systemd systemd-sysv util-linux \
  && rm -rf /var/lib/apt/lists/* \
  && echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/test
CMD ["/sbin/init"]
