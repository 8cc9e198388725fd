/** Stands for a site in the addresses of agents that serve all clusters. No site has this name. */
export const INSTALLATION = '_installation';

/** Names of sites and schedules. */
export const SITE_NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;
