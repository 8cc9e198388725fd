import type { Migration } from './migration.ts';

/** The last attempts to deliver notices about runs. */
export const noticeDeliveries: Migration = {
  version: 12,
  name: 'notice-deliveries',
  breaking: false,
  async up(db, { integer, text }) {
    await db.schema
      .createTable('notice_delivery')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('notice', text, (column) => column.notNull())
      .addColumn('receiver', text, (column) => column.notNull())
      .addColumn('event', text, (column) => column.notNull())
      .addColumn('run', text)
      .addColumn('at', text, (column) => column.notNull())
      .addColumn('attempt', integer, (column) => column.notNull())
      .addColumn('delivered', integer, (column) => column.notNull())
      .addColumn('status', integer)
      .addColumn('message', text)
      .execute();
    await db.schema
      .createIndex('notice_delivery_of_receiver')
      .on('notice_delivery')
      .columns(['receiver', 'id'])
      .execute();
  },
};
