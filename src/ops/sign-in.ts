import { isServiceActor } from '../core/access.ts';
import { valueAt } from '../core/data/plain-value.ts';
import { MAX } from '../core/run/description.ts';
import { CONTROL } from '../core/text/control-characters.ts';
import { ROLES, type Role, type SignInFailure } from '../core/words.ts';
import {
  type Claims,
  OpenIdError,
  type OpenIdProvider,
  type PendingSignIn,
} from '../platform/openid/openid-provider.ts';
import type { SignedIn } from './tokens.ts';

/** The meaning of claims. */
interface SignInRules {
  /** Claim with the name of the user, the actor in the audit trail. */
  readonly nameClaim: string;
  /** Claim with the groups or roles of the user; `a.b` is also the key `b` in the claim `a`. */
  readonly rolesClaim: string;
  /** By role, the values of that claim that give it. */
  readonly values: Readonly<Record<Role, readonly string[]>>;
  /** What to do with an address of which the provider does not say whether it has verified it. */
  readonly unstatedAddress: UnstatedAddress;
}

/** `refuse`: no access. `subject`: access under the name that only the provider can give, `issuer#subject`. */
type UnstatedAddress = 'refuse' | 'subject';

/** Sign-in through an OpenID provider. */
export interface SignIn {
  begin: OpenIdProvider['begin'];
  /** @throws SignInError */
  finish(returned: URL, pending: PendingSignIn): Promise<SignedIn>;
}

/** A user did not get in. The message is for the log. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
  readonly failure: SignInFailure;

  constructor(failure: SignInFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

export function signIn(provider: OpenIdProvider, rules: SignInRules): SignIn {
  const orFailure = (error: unknown): never => {
    if (!(error instanceof OpenIdError)) throw error;
    throw new SignInError(error.kind === 'away' ? 'provider-away' : 'refused', error.message);
  };
  return {
    begin: () => provider.begin().catch(orFailure),
    finish: async (returned, pending) => signedIn(await provider.finish(returned, pending).catch(orFailure), rules),
  };
}

/** The user's name and role, from the claims. @throws SignInError */
export function signedIn(claims: Claims, { nameClaim, rolesClaim, values, unstatedAddress }: SignInRules): SignedIn {
  const name = claimOf(claims, nameClaim);
  if (typeof name !== 'string' || !/^[\p{L}\p{N}][\p{L}\p{N} ._@+-]{0,99}$/u.test(name))
    throw new SignInError('no-name', `the claim ${nameClaim} of ${claims.sub} has no name: ${JSON.stringify(name)}`);
  if (isServiceActor(name))
    throw new SignInError('no-name', `${claims.sub} is called '${name}', as a part of the service is`);
  const role = roleOf(claims, rolesClaim, values);
  const signedInAs = (actor: string): SignedIn => ({ name: actor, role, issuer: claims.iss, subject: claims.sub });
  const isAddress = nameClaim === 'email' || name.includes('@');
  const { email_verified: verified } = claims;
  // Some providers send it as text.
  if (!isAddress || verified === true || verified === 'true') return signedInAs(name);
  if (verified !== undefined)
    throw new SignInError('no-name', `the provider has not verified the address of ${claims.sub}`);
  if (unstatedAddress === 'refuse')
    throw new SignInError(
      'no-name',
      `the provider does not say whether it has verified the address of ${claims.sub}: it sends no claim email_verified. See access.openid.unstated_address`,
    );
  const subject = `${claims.iss}#${claims.sub}`;
  if (subject.length > MAX.actor || CONTROL.test(subject))
    throw new SignInError('no-name', `${JSON.stringify(subject)} is not a name: it is too long, or not one line`);
  return signedInAs(subject);
}

function roleOf(claims: Claims, rolesClaim: string, values: SignInRules['values']): Role {
  const given = [claimOf(claims, rolesClaim)].flat();
  const role = [...ROLES].reverse().find((one) => values[one].some((value) => given.includes(value)));
  if (role === undefined)
    throw new SignInError('no-role', `no value in the claim ${rolesClaim} of ${claims.sub} gives a role`);
  return role;
}

const claimOf = (claims: Claims, name: string): unknown =>
  Object.hasOwn(claims, name) ? claims[name] : valueAt(claims, name.split('.'));
