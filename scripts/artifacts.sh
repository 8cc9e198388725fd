#!/bin/bash
# Makes everything that a release has, of the version in package.json, in release/: `npm run artifacts`. Needs podman or docker, dpkg-deb,
# and helm (.ci/kubernetes-tools builds one). SITEWRIGHT_STAND_INS=1 builds the image on a stand-in of its base, for a
# machine that reaches no registry of images (test/containers/stand-ins.ts).
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(node --print 'require("./package.json").version')
engine=$(command -v podman || command -v docker) || { echo 'podman or docker is needed for the image' >&2; exit 1; }
helm=$(bash .ci/kubernetes-tools --folder)/helm
[ -x "$helm" ] || helm=$(command -v helm) || { echo 'helm is needed for the chart: bash .ci/kubernetes-tools' >&2; exit 1; }

rm -rf release
mkdir release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# It builds dist/ first, which the others take.
npm pack --silent --pack-destination release >/dev/null
cp dist/sbom.cdx.json "release/sitewright-$version.cdx.json"
node scripts/pack-agent.mjs release >/dev/null
node scripts/pack-deb.mjs release >/dev/null
HELM_CACHE_HOME=$work HELM_CONFIG_HOME=$work HELM_DATA_HOME=$work \
  "$helm" package deploy/helm/sitewright --destination "$work" >/dev/null
# helm would give it the name that npm's package has.
mv "$work/sitewright-$version.tgz" "release/sitewright-chart-$version.tgz"

# The format that has health checks.
export BUILDAH_FORMAT=docker
network=()
if [ -n "${SITEWRIGHT_STAND_INS:-}" ]; then
  CONTAINERS_CONF=$(node test/containers/stand-ins.ts "$work" "node=$(sed -n 's/^ARG NODE_IMAGE=//p' deploy/Dockerfile)")
  export CONTAINERS_CONF
  network=(--network host)
fi
"$engine" build --quiet "${network[@]}" --file deploy/Dockerfile --tag "sitewright:$version" . >/dev/null
"$engine" save --output "release/sitewright-image-$version.tar" "sitewright:$version"

cd release
sha256sum -- * >SHA256SUMS
du --apparent-size --human-readable -- *
