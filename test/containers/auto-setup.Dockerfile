# Stand-in for temporalio/auto-setup: Temporal's server and schema tool, built from their Go modules.
FROM localhost/sitewright-stand-in/debian
COPY temporal/ /opt/temporal/
COPY temporal-cli /usr/local/bin/temporal
COPY auto-setup-entrypoint /usr/local/bin/auto-setup
RUN useradd --uid 1000 --create-home temporal && mkdir -p /etc/temporal/config && chown -R temporal /opt/temporal
USER temporal
WORKDIR /opt/temporal
ENTRYPOINT ["auto-setup"]
