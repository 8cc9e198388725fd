import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { seededRandom } from '../../packages/yaql/test/mutations.ts';
import type { Store } from '../../src/store/index.ts';
import { describeStore } from '../unit/store/backends.ts';
import { enrol, HOLDERS, type Holder, NODES, type Node, renew, revoke, type State } from './identity.ts';

// Concurrent changes of identities, through several connections. All answers, and all callers that are accepted
// afterwards, must be explained by the same changes made one after the other, in an order in which none precedes one that had
// ended before it began: of that, the model keeps its properties in every state.
//
// RACES=2000 npx vitest run --project unit test/models/identity-races.test.ts

const SEEDS = Number(process.env.RACES ?? 25);
const BATCHES = 5;
const AT_ONCE = 6;

type Change =
  | { readonly kind: 'token'; readonly hash: string; readonly node: Node }
  | {
      readonly kind: 'enrol';
      readonly hash: string;
      readonly node: Node;
      readonly holder: Holder;
      readonly fingerprint: string;
    }
  | { readonly kind: 'renew'; readonly by: string; readonly node: Node; readonly fingerprint: string }
  | { readonly kind: 'revoke'; readonly node: Node; readonly keepUnused: boolean };

/** A change that has ended. */
interface Call {
  readonly change: Change;
  readonly began: number;
  readonly ended: number;
  readonly answer: unknown;
}

/** The model's state, with the names of its tokens and certificates in the store. */
interface Named {
  readonly state: State;
  readonly hashes: readonly string[];
  readonly fingerprints: readonly string[];
}

const NOTHING: Named = {
  state: { tokens: [], certificates: [], underWay: [], epochs: { n1: 0, n2: 0 }, alarms: 0, comebacks: 0 },
  hashes: [],
  fingerprints: [],
};
const none = new Set<never>();

/** The state after a change that answers this; undefined if it would answer differently. */
function after({ state, hashes, fingerprints }: Named, { change, answer }: Call): Named | undefined {
  if (change.kind === 'token') {
    const token = { node: change.node, usedBy: null, certificate: null, isSpent: false };
    return { state: { ...state, tokens: [...state.tokens, token] }, hashes: [...hashes, change.hash], fingerprints };
  }
  if (change.kind === 'revoke') {
    const valid = state.certificates.filter(({ node, isValid }) => node === change.node && isValid).length;
    if (valid !== answer) return undefined;
    return { state: revoke(state, change.node, change.keepUnused, none), hashes, fingerprints };
  }
  const named = (then: State): Named => ({ state: then, hashes, fingerprints: [...fingerprints, change.fingerprint] });
  if (change.kind === 'renew') {
    const then = renew(state, fingerprints.indexOf(change.by), none);
    if ((then !== undefined) !== answer) return undefined;
    return then === undefined ? { state, hashes, fingerprints } : named(then);
  }
  const token = hashes.indexOf(change.hash);
  const then = token < 0 ? 'unknown' : enrol(state, token, change.node, change.holder, none);
  if (typeof then === 'string') return then === answer ? { state, hashes, fingerprints } : undefined;
  return answer === undefined ? named(then) : undefined;
}

/** The state after all calls in an order that explains their answers and ends as wanted; undefined if none does. */
function explained(from: Named, calls: readonly Call[], isWanted: (named: Named) => boolean): Named | undefined {
  if (calls.length === 0) return isWanted(from) ? from : undefined;
  for (const call of calls) {
    if (calls.some(({ ended }) => ended < call.began)) continue;
    const then = after(from, call);
    const found =
      then &&
      explained(
        then,
        calls.filter((other) => other !== call),
        isWanted,
      );
    if (found !== undefined) return found;
  }
  return undefined;
}

const accepted = ({ state, fingerprints }: Named): string[] =>
  fingerprints.filter((_, place) => state.certificates[place]!.isValid).sort();

/** A token as both know it. */
const tokenOf = (token: Awaited<ReturnType<Store['nodeIdentities']['findToken']>>): string =>
  JSON.stringify([token?.usedByKey ?? null, token?.certificate ?? null, token?.revokedAt !== null]);

function modelled({ state, fingerprints }: Named, place: number): string {
  const { usedBy, certificate, isSpent } = state.tokens[place]!;
  return JSON.stringify([usedBy, certificate === null ? null : fingerprints[certificate]!, isSpent]);
}

describeStore('Identities changed at the same time', (backend) => {
  const LATER = '2030-01-01T00:00:00.000Z';
  let minutes = 0;
  const now = (): string => new Date(Date.UTC(2026, 0, 1, 0, ++minutes)).toISOString();

  const made = ({ nodeIdentities }: Store, site: string, change: Change): Promise<unknown> => {
    const at = now();
    const certificate = (fingerprint: string) => ({
      fingerprint,
      site,
      node: change.node,
      issuedAt: at,
      expiresAt: LATER,
    });
    switch (change.kind) {
      case 'token':
        return nodeIdentities.addToken({ hash: change.hash, site, node: change.node, expiresAt: LATER });
      case 'enrol': {
        const { hash, holder, fingerprint } = change;
        const reason = 'enrolled again';
        return nodeIdentities.enrol({ hash, keyHash: holder, at, certificate: certificate(fingerprint), reason });
      }
      case 'renew':
        return nodeIdentities.renew(change.by, certificate(change.fingerprint));
      case 'revoke':
        return nodeIdentities.revoke({ site, node: change.node, at, reason: 'stolen', keepUnused: change.keepUnused });
    }
  };

  it('end as if one followed the other, whatever their order', { timeout: 60_000 + SEEDS * 2_000 }, async () => {
    const url = await backend.newUrl();
    if (backend.dialect === 'postgres') {
      // Time for others between any two steps of a change.
      await backend.sql(
        url,
        `create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(random() * 0.004); return null; end $$;
         create trigger slow before insert or update on node_certificate execute function slow();
         create trigger slow before insert or update on enrolment_token execute function slow();`,
      );
    }
    const stores = await Promise.all([1, 2, 3].map(() => backend.open(url)));
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = seededRandom(seed);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
      const site = `race${seed}`;
      let [named, clock, names] = [NOTHING, 0, 0];
      const change = (): Change => {
        const [node, kind] = [pick(NODES), random()];
        const name = `${site}-${++names}`;
        const { hashes, fingerprints } = named;
        if (hashes.length === 0 || kind < 0.15) return { kind: 'token', hash: name, node };
        if (kind < 0.5) {
          const hash = pick(hashes);
          const its = random() < 0.9 ? named.state.tokens[hashes.indexOf(hash)]!.node : node;
          return { kind: 'enrol', hash, node: its, holder: pick(HOLDERS), fingerprint: name };
        }
        if (kind < 0.8 && fingerprints.length > 0) {
          // Certificates that are valid more often than others.
          const by = pick(random() < 0.8 && accepted(named).length > 0 ? accepted(named) : fingerprints);
          return {
            kind: 'renew',
            by,
            node: named.state.certificates[fingerprints.indexOf(by)]!.node,
            fingerprint: name,
          };
        }
        return { kind: 'revoke', node, keepUnused: random() < 0.5 };
      };
      for (let batch = 0; batch < BATCHES; batch++) {
        const calls = await Promise.all(
          Array.from({ length: batch === 0 ? 2 : AT_ONCE }, change).map(async (one): Promise<Call> => {
            const [store, pause] = [pick(stores), random() * 4];
            if (pause > 1) await delay(pause);
            const began = ++clock;
            const answer = await made(store, site, one);
            return { change: one, began, answer, ended: ++clock };
          }),
        );
        const listed = await stores[0]!.nodeIdentities.listCertificates(site);
        const valid = listed.flatMap(({ fingerprint, revokedAt }) => (revokedAt === null ? [fingerprint] : [])).sort();
        const hashes = [
          ...named.hashes,
          ...calls.flatMap((call) => (call.change.kind === 'token' ? [call.change.hash] : [])),
        ];
        const stored = new Map(
          await Promise.all(
            hashes.map(async (hash) => [hash, tokenOf(await stores[0]!.nodeIdentities.findToken(hash))] as const),
          ),
        );
        const isStored = (end: Named): boolean =>
          JSON.stringify(accepted(end)) === JSON.stringify(valid) &&
          end.hashes.every((hash, place) => stored.get(hash) === modelled(end, place));
        const next = explained(named, calls, isStored);
        if (next === undefined)
          expect.fail(
            `seed ${seed}: no order explains\n${calls.map((call) => JSON.stringify(call)).join('\n')}\nvalid: ${valid}`,
          );
        named = next;
      }
      // Credentials of an ended identity give access to nothing, whoever holds them.
      for (const [place, by] of named.fingerprints.entries()) {
        const { node, isValid } = named.state.certificates[place]!;
        if (isValid) continue;
        expect(await made(stores[1]!, site, { kind: 'renew', by, node, fingerprint: `${by}-again` })).toBe(false);
        expect((await stores[2]!.nodeIdentities.findCertificate(by))?.revokedAt).toEqual(expect.any(String));
      }
      for (const [place, hash] of named.hashes.entries()) {
        const { node, isSpent } = named.state.tokens[place]!;
        if (!isSpent) continue;
        for (const holder of HOLDERS) {
          const again: Change = { kind: 'enrol', hash, node, holder, fingerprint: `${hash}-${holder}` };
          expect(await made(stores[1]!, site, again)).toBe('revoked');
        }
      }
    }
  });
});
