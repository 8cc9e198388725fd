import { given } from '../../core/data/given.ts';
import { isMapping } from '../../core/data/plain-value.ts';
import type { JsonFields, PluginRecord } from '../../store/index.ts';
import { problem } from '../problem.ts';
import { Service } from '../service.ts';

/** A plugin to register, with wire names. Fields that are not listed here are stored unchanged. */
interface PluginUpload {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly title?: string | undefined;
  readonly package_version?: string | undefined;
  readonly [part: string]: unknown;
}

export interface PluginWithTags extends PluginRecord {
  /** Tag -> metadata: those that it names, and those that its roles bring. */
  readonly tags: JsonFields;
}

const COLUMNS = ['id', 'name', 'version', 'title', 'package_version'];

export class PluginOperations extends Service {
  async list(): Promise<readonly PluginWithTags[]> {
    return Promise.all((await this.store.plugins.list()).map((one) => this.#withTags(one)));
  }
  async get(id: number): Promise<PluginWithTags> {
    return this.#withTags(await this.store.plugins.get(id));
  }
  async update(id: number, upload: PluginUpload, actor: string): Promise<PluginWithTags> {
    const plugin = await this.store.plugins.get(id);
    if (upload.name !== undefined && upload.name !== plugin.name) {
      const message = `Plugin can't be renamed. Trying to change name of the plugin ${plugin.name} to ${upload.name}`;
      throw problem('invalid', message, {
        hint: 'Install it under the new name instead.',
        errors: [{ severity: 'error', code: 'plugin.renamed', message, path: 'body.name' }],
      });
    }
    const parts: JsonFields = Object.fromEntries(
      Object.entries(upload).filter(([name, value]) => value !== undefined && !COLUMNS.includes(name)),
    );
    const changed = await this.store.plugins.update(id, {
      ...given({ version: upload.version, title: upload.title, packageVersion: upload.package_version }),
      metadata: { ...plugin.metadata, ...parts },
    });
    await this.audit(actor, 'plugin.update', `plugin/${id}`, { fields: Object.keys(upload) });
    return this.#withTags(changed);
  }
  async delete(id: number, actor: string): Promise<void> {
    const { name, version } = await this.store.plugins.get(id);
    const users = await this.#usersOf(id);
    if (users.length > 0) {
      throw problem('invalid', "Can't delete plugin which is enabled for some environment.", {
        hint: `Disable it first in ${users.join(', ')}.`,
      });
    }
    await this.store.plugins.delete(id);
    await this.audit(actor, 'plugin.delete', `plugin/${id}`, { name, version });
  }

  async #withTags(plugin: PluginRecord): Promise<PluginWithTags> {
    const { tags_metadata: named } = plugin.metadata;
    const owned = await this.store.tags.list({ kind: 'plugin', id: plugin.id });
    const tags = Object.fromEntries(owned.map(({ name, hasPrimary }) => [name, { has_primary: hasPrimary }]));
    return { ...plugin, tags: { ...(isMapping(named) ? (named as JsonFields) : {}), ...tags } };
  }

  async #usersOf(id: number): Promise<readonly string[]> {
    const clusters = await this.store.clusters.list();
    const links = await Promise.all(clusters.map((one) => this.store.plugins.ofCluster(one.id, { enabled: true })));
    return clusters
      .filter((_, index) => links[index]!.some(({ plugin }) => plugin.id === id))
      .map((one) => `${one.name} (cluster ${one.id})`);
  }
}
