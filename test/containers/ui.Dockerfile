# Stand-in for temporalio/ui: Temporal's Web UI, built from its Go module.
FROM localhost/sitewright-stand-in/debian
RUN apt-get update && apt-get install --yes --no-install-recommends wget && rm -rf /var/lib/apt/lists/*
COPY ui/ /home/ui-server/
WORKDIR /home/ui-server
EXPOSE 8080
ENTRYPOINT ["./server", "--env", "docker", "start"]
