/** Names of sites and schedules. */
export const SITE_NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;
