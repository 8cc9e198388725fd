/** What to do where no release is installed: a cluster is built from one. */
export const NO_RELEASES_HINT =
  "Install a release package: 'sitewright package install FILE'; 'sitewright package create FOLDER' writes one to start from.";
