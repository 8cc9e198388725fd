import { conflict, notFound } from '../failure.ts';
import { InputCheck, storable } from '../input.ts';
import type { Session } from '../session.ts';
import type { New, Row, Stored } from '../tables.ts';
import { newRow } from './conversion.ts';

/** An API token without its hash, safe to show. */
export type ApiToken = Omit<Stored<'apiToken'>, 'hash'>;

type NewApiToken = New<'apiToken'>;

/** API tokens and sessions. No token is removed, because the audit trail names them. */
export class ApiTokenStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** @throws `conflict` when a token that is not revoked has this name, or the id exists */
  async add(token: NewApiToken): Promise<ApiToken> {
    const check = new InputCheck();
    const row = newRow('apiToken', check, token, { createdAt: new Date().toISOString() });
    check.done();
    const { numInsertedOrUpdatedRows: added } = await this.#session.write((transaction) =>
      transaction
        .insertInto('apiToken')
        .values(row)
        // The unique indexes of name and id decide, also between processes.
        .onConflict((on) => on.doNothing())
        .executeTakeFirstOrThrow(),
    );
    if (added === undefined || added === 0n)
      throw conflict(`There is a token "${row.name}" already.`, 'Choose another name, or revoke that one first.');
    return shown(row);
  }

  /** With its hash, for comparison. Undefined for an unknown id. */
  async findById(id: string): Promise<(ApiToken & { readonly hash: string }) | undefined> {
    return this.#session.read((db) =>
      db.selectFrom('apiToken').selectAll().where('id', '=', storable(id)).executeTakeFirst(),
    );
  }

  /** Newest first. */
  async list(): Promise<readonly ApiToken[]> {
    const rows = await this.#session.read((db) =>
      db.selectFrom('apiToken').selectAll().orderBy('createdAt', 'desc').orderBy('id', 'desc').execute(),
    );
    return rows.map(shown);
  }

  /** Revokes a token. @throws `not-found` for an unknown id or a token revoked earlier */
  async revoke(id: string, by: string, at: string): Promise<ApiToken> {
    const check = new InputCheck();
    const change = { revokedBy: check.key('by', by), revokedAt: check.time('at', at) };
    const key = check.key('id', id);
    check.done();
    const row = await this.#session.write((transaction) =>
      transaction
        .updateTable('apiToken')
        .set(change)
        .where('id', '=', key)
        .where('revokedAt', 'is', null)
        .returningAll()
        .executeTakeFirst(),
    );
    if (row === undefined) throw notFound('token in use', id, 'List the tokens to see their ids.');
    return shown(row);
  }

  /** Removes sessions that expired before this time. */
  async forgetSessions(before: string): Promise<void> {
    const check = new InputCheck();
    const time = check.time('before', before);
    check.done();
    await this.#session.write((transaction) =>
      transaction.deleteFrom('apiToken').where('kind', '=', 'session').where('expiresAt', '<', time).execute(),
    );
  }

  /** Records a use. */
  async recordUse(id: string, at: string): Promise<void> {
    const check = new InputCheck();
    const lastUsedAt = check.time('at', at);
    check.done();
    await this.#session.write((transaction) =>
      transaction.updateTable('apiToken').set({ lastUsedAt }).where('id', '=', storable(id)).execute(),
    );
  }
}

const shown = ({ hash: _hash, ...token }: Row<'apiToken'>): ApiToken => token;
