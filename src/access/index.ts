/** Who may do what: tokens, roles, and what each route asks. Decisions only; nothing here reads a request or a store. */
export { covers, isRole, type Need, ROLES, type Role } from './role.js';
export { allNeeds, needOfRoute } from './route-needs.js';
export { hashOf, idOfToken, type MintedToken, matches, mintToken, TOKEN_IN_TEXT } from './token.js';
export { type GivenToken, tokenFromHeaders } from './token-from-headers.js';
