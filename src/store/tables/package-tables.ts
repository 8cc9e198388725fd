import type { JsonFields, JsonObject } from '../page.ts';
import { bytes, choice, count, flag, json, jsonObject, key, reference, serial, text, time } from './column.ts';

/** Packages, and their releases, plugins and tags. */
export const packageTables = {
  package: {
    id: serial(),
    name: key(),
    /** Unique together with the name. */
    version: key(),
    /** Version of the package format, e.g. `5.0.0`. */
    packageVersion: key(),
    /** `release` or `extension`. */
    kind: key(),
    /** SHA-256 of the archive, 64 hexadecimal digits. */
    checksum: text().internal(),
    /** Bytes of the archive. */
    size: count().internal(),
    /** The loaded tree. */
    metadata: jsonObject().initially('{}'),
    installedAt: time().internal(),
    updatedAt: time().internal(),
  },
  packageArchive: {
    packageId: reference(),
    bytes: bytes(),
  },
  /** Releases, from which clusters are built. */
  release: {
    id: serial(),
    name: key(),
    /** Unique together with the name. */
    version: key(),
    operatingSystem: text().initially(''),
    description: text().initially(''),
    /** `available`, `unavailable` or `manageonly`. */
    state: key().initially('available'),
    isDeployable: flag().initially(1),
    /** Role name -> its properties (`name`, `tags`, `limits` …). */
    rolesMetadata: jsonObject().initially('{}'),
    /** Tag name -> its properties (`has_primary` …), from the release. */
    tagsMetadata: jsonObject().initially('{}'),
    /** All other fields of a release: `volumes_metadata`, `networks_metadata`, `attributes_metadata`, `modes` … */
    metadata: jsonObject().initially('{}'),
    /** The package that contained it; null if created by hand. */
    packageId: reference().nullable(),
    createdAt: time().internal(),
    updatedAt: time().internal(),
  },
  /** Extensions of clusters. */
  plugin: {
    id: serial(),
    name: key(),
    /** Unique together with the name. */
    version: key(),
    /** Defaults to the name. */
    title: text().derived(),
    /** Version of the package format, e.g. `5.0.0`. */
    packageVersion: key(),
    /** All other fields of a plugin: `releases`, `roles_metadata`, `tags_metadata`, `attributes_metadata`, `tasks` … */
    metadata: jsonObject().initially('{}'),
    packageId: reference().nullable(),
    createdAt: time().internal(),
    updatedAt: time().internal(),
  },
  /** A plugin that is compatible with a cluster. It contributes to the cluster's graphs only while enabled. */
  clusterPlugin: {
    clusterId: reference(),
    pluginId: reference(),
    enabled: flag().initially(0),
    /** Settings of the plugin in this cluster. */
    attributes: jsonObject().initially('{}'),
  },
  /** A kind of work that nodes can do. Has exactly one of the three owners. */
  tag: {
    id: serial(),
    name: key(),
    releaseId: reference().nullable().internal(),
    pluginId: reference().nullable().internal(),
    clusterId: reference().nullable().internal(),
    /** From a role of a release or plugin: users cannot delete it. */
    readOnly: flag().initially(0),
    /** Whether one of its nodes is the primary. */
    hasPrimary: flag().initially(0),
    metadata: jsonObject().initially('{}'),
  },
  tagNodeAssignment: {
    clusterId: reference().internal(),
    nodeId: reference(),
    /** Name of a tag, or of an instance of one: `mysql:1`. */
    tag: key(),
    /** Who assigned it: one of the node's roles, a user, or an extension. */
    source: choice<'role' | 'user' | 'extension'>(),
    /** The role that brought it. Empty for none, because it is part of the key. */
    role: text(),
  },
  graphSequence: {
    id: serial(),
    /** Unique within the release. */
    name: key(),
    releaseId: reference(),
    /** For example `{type: 'default'}`; at least one. */
    graphs: json<readonly JsonObject[], readonly JsonFields[]>(),
  },
};
