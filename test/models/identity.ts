// The identities of two nodes as a model whose states can all be visited: enrolment, renewal in two steps, revocation and
// replacement, and an attacker who keeps everything that machines ever had. `npm run model:identity` visits them and
// shows that each known defect, put back, breaks a property. The rules are those of
// src/store/queries/node-identities.ts; test/models/identity.test.ts compares the two.
import { fileURLToPath } from 'node:url';
import { explore, type Model } from './explore.ts';

export const NODES = ['n1', 'n2'] as const;
export type Node = (typeof NODES)[number];
/** The successive machines of n1, the machine of n2, and the attacker. */
export const HOLDERS = ['first', 'second', 'other', 'attacker'] as const;
export type Holder = (typeof HOLDERS)[number];

export interface Token {
  readonly node: Node;
  /** Whose key it was redeemed for. */
  readonly usedBy: Holder | null;
  /** The newest certificate that it gave, by its place. */
  readonly certificate: number | null;
  readonly isSpent: boolean;
}

export interface Certificate {
  readonly node: Node;
  readonly holder: Holder;
  readonly isValid: boolean;
  /** How often the node's identity had ended when it was given. */
  readonly epoch: number;
  /** The token with which it began. */
  readonly token: number;
  /** Of the certificate that it renews. */
  readonly renews: number | null;
}

/** A renewal whose certificate the gateway has checked, and whose answer it has not stored. */
export interface Renewal {
  readonly by: number;
}

export interface State {
  readonly tokens: readonly Token[];
  readonly certificates: readonly Certificate[];
  readonly underWay: readonly Renewal[];
  /** How often each node's identity has ended: revoked, or its machine released. */
  readonly epochs: Readonly<Record<Node, number>>;
  /** Someone presented a token of an ended identity. */
  readonly alarms: number;
  /** Such attempts. */
  readonly comebacks: number;
}

/** Known defects, which a test puts back. */
export const DEFECTS = [
  'a renewal does not ask again whether its certificate is valid',
  'revoking leaves used tokens',
  'a used token counts for any key',
  'a used token counts while any certificate is there',
  'enrolling leaves former certificates',
  'a token counts for any node',
] as const;
export type Defect = (typeof DEFECTS)[number];

const MAX_CERTIFICATES = 4;
const MAX_EPOCHS = 2;

const INITIAL: State = {
  tokens: [{ node: 'n1', usedBy: null, certificate: null, isSpent: false }],
  certificates: [],
  underWay: [],
  epochs: { n1: 0, n2: 0 },
  alarms: 0,
  comebacks: 0,
};

/** The holders of credentials: machines know their own token and certificates, the attacker everything. */
const MACHINE_OF: Readonly<Record<Node, readonly Holder[]>> = {
  n1: ['first', 'second', 'attacker'],
  n2: ['other', 'attacker'],
};

const changed = <T>(list: readonly T[], at: number, by: Partial<T>): T[] =>
  list.map((one, place) => (place === at ? { ...one, ...by } : one));

/** Whether a token was used by an identity that has ended. */
const hasEnded = ({ tokens, certificates, epochs }: State, token: number): boolean => {
  const { node, certificate } = tokens[token]!;
  return certificate !== null && certificates[certificate]!.epoch < epochs[node];
};

const isNewest = ({ certificates }: State, node: Node, at: number | null): boolean =>
  certificates.every((one, place) => one.node !== node || one.isValid === (place === at));

/** Why a token gives no certificate; `used` and `revoked` as in the store. */
export type Refusal = 'unknown' | 'used' | 'revoked';

export function enrol(
  state: State,
  token: number,
  node: Node,
  holder: Holder,
  defects: ReadonlySet<Defect>,
): State | Refusal {
  const { node: of, usedBy, certificate, isSpent } = state.tokens[token]!;
  if (of !== node && !defects.has('a token counts for any node')) return 'unknown';
  if (isSpent) return 'revoked';
  if (usedBy !== null && usedBy !== holder && !defects.has('a used token counts for any key')) return 'used';
  const isAgain = usedBy !== null && !defects.has('a used token counts while any certificate is there');
  if (isAgain && !isNewest(state, node, certificate)) return 'used';
  const certificates = defects.has('enrolling leaves former certificates')
    ? state.certificates
    : state.certificates.map((one) => (one.node === node ? { ...one, isValid: false } : one));
  const tokens = state.tokens.map((one, place) =>
    one.node === node && place !== token ? { ...one, isSpent: true } : one,
  );
  const given: Certificate = { node, holder, isValid: true, epoch: state.epochs[node], token, renews: null };
  return {
    ...state,
    certificates: [...certificates, given],
    tokens: changed(tokens, token, { usedBy: holder, certificate: certificates.length }),
  };
}

/** The second step of a renewal; undefined: refused. */
export function renew(state: State, by: number, defects: ReadonlySet<Defect>): State | undefined {
  const former = state.certificates[by]!;
  if (!former.isValid && !defects.has('a renewal does not ask again whether its certificate is valid'))
    return undefined;
  return { ...state, certificates: [...state.certificates, { ...former, isValid: true, renews: by }] };
}

export function revoke(state: State, node: Node, keepUnused: boolean, defects: ReadonlySet<Defect>): State {
  const spends = ({ node: of, usedBy }: Token): boolean =>
    of === node && (usedBy === null ? !keepUnused : !defects.has('revoking leaves used tokens'));
  return {
    ...state,
    certificates: state.certificates.map((one) => (one.node === node ? { ...one, isValid: false } : one)),
    tokens: state.tokens.map((one) => (spends(one) ? { ...one, isSpent: true } : one)),
    epochs: { ...state.epochs, [node]: state.epochs[node] + 1 },
  };
}

export function identityModel(defects: ReadonlySet<Defect> = new Set()): Model<State> {
  return {
    initial: INITIAL,
    *next(state) {
      const isRoom = state.certificates.length < MAX_CERTIFICATES;
      for (const token of state.tokens.keys())
        for (const node of NODES)
          for (const holder of MACHINE_OF[node]) {
            if (!isRoom) continue;
            const after = enrol(state, token, node, holder, defects);
            if (typeof after !== 'string') yield [`${holder} enrols as ${node} with token ${token}`, after];
            else if (state.comebacks === 0 && after !== 'unknown' && hasEnded(state, token))
              yield [
                `${holder} comes back as ${node} with token ${token}`,
                { ...state, comebacks: 1, alarms: after === 'revoked' ? 1 : 0 },
              ];
          }
      for (const [by, { node, holder, isValid }] of state.certificates.entries()) {
        if (isRoom && isValid && state.underWay.length < 2 && !state.underWay.some((one) => one.by === by))
          yield [
            `${holder} asks to renew certificate ${by} of ${node}`,
            { ...state, underWay: [...state.underWay, { by }] },
          ];
      }
      for (const [place, { by }] of state.underWay.entries()) {
        const left = { ...state, underWay: state.underWay.filter((_, other) => other !== place) };
        const after = isRoom ? renew(left, by, defects) : undefined;
        yield [`the renewal of certificate ${by} ends`, after ?? left];
      }
      for (const node of NODES) {
        if (state.epochs[node] >= MAX_EPOCHS) continue;
        yield [`an operator revokes ${node}`, revoke(state, node, false, defects)];
        if (state.tokens.length > 1 || node === 'n2') continue;
        const released = revoke(state, node, true, defects);
        const ticket: Token = { node, usedBy: null, certificate: null, isSpent: false };
        yield [
          `${node} is deployed again, with a token of its own`,
          { ...released, tokens: [...released.tokens, ticket] },
        ];
        yield [`an operator gives ${node} another token`, { ...state, tokens: [...state.tokens, ticket] }];
      }
    },
    properties: {
      'no certificate outlives the identity that it was given for': ({ certificates, epochs }) =>
        certificates.every(({ isValid, node, epoch }) => !isValid || epoch === epochs[node]),
      'a token gives certificates to one key': ({ certificates }) =>
        certificates.every((one) => certificates.every((two) => one.token !== two.token || one.holder === two.holder)),
      'a certificate is of the node that its token was given for': ({ certificates, tokens }) =>
        certificates.every(({ node, token }) => tokens[token]!.node === node),
      'all valid certificates of a node began with one enrolment': ({ certificates }) =>
        NODES.every(
          (node) =>
            new Set(certificates.flatMap((one) => (one.isValid && one.node === node ? [one.token] : []))).size <= 1,
        ),
      'a machine that has renewed is not put out by its own used token': ({ certificates, tokens }) =>
        tokens.every(({ certificate }, token) => {
          if (certificate === null) return true;
          // Whoever held the first certificate and renewed it: no later enrolment by the same token.
          return !certificates.some(
            (one, place) =>
              one.token === token &&
              one.renews === null &&
              place <= certificate &&
              certificates.slice(0, certificate).some((two) => two.renews === place),
          );
        }),
      'who comes back with the token of an identity that has ended is seen': ({ alarms, comebacks }) =>
        alarms >= comebacks,
    },
  };
}

function main(): number {
  const sound = explore(identityModel());
  console.log(
    `${sound.states} states: ${sound.broken === undefined ? 'every property holds' : JSON.stringify(sound.broken)}`,
  );
  let failed = sound.broken === undefined ? 0 : 1;
  for (const defect of DEFECTS) {
    const { broken } = explore(identityModel(new Set([defect])));
    console.log(
      `with "${defect}": ${broken === undefined ? 'NOTHING BREAKS' : `breaks "${broken.property}" by ${broken.actions.join(', ')}`}`,
    );
    if (broken === undefined) failed += 1;
  }
  return failed === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main();
