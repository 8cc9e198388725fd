# Stand-in for node:VERSION-bookworm-slim: the Node.js of its npm package on Debian, with this machine's npm.
FROM localhost/sitewright-stand-in/debian
COPY node/ /usr/local/
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
  && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx \
  && mkdir -p /usr/local/etc && echo 'nodedir=/usr/local' >/usr/local/etc/npmrc \
  && groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node
CMD ["node"]
