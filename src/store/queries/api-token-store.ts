import { conflict, notFound } from '../failure.ts';
import { InputCheck, storable } from '../input.ts';
import type { ApiToken, ApiTokenStore, NewApiToken } from '../ports/api-token-store.ts';
import type { Session } from '../session.ts';
import type { Row } from '../tables.ts';
import { newRow } from './conversion.ts';

/** ApiTokenStore on either database. */
export class SqlApiTokenStore implements ApiTokenStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

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

  async findById(id: string): Promise<(ApiToken & { readonly hash: string }) | undefined> {
    return this.#session.read((db) =>
      db.selectFrom('apiToken').selectAll().where('id', '=', storable(id)).executeTakeFirst(),
    );
  }

  async list(): Promise<readonly ApiToken[]> {
    const rows = await this.#session.read((db) =>
      db.selectFrom('apiToken').selectAll().orderBy('createdAt', 'desc').orderBy('id', 'desc').execute(),
    );
    return rows.map(shown);
  }

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

  async forgetSessions(before: string): Promise<void> {
    const check = new InputCheck();
    const time = check.time('before', before);
    check.done();
    await this.#session.write((transaction) =>
      transaction.deleteFrom('apiToken').where('kind', '=', 'session').where('expiresAt', '<', time).execute(),
    );
  }

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
