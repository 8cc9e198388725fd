import type { JsonFields, JsonObject } from '../ports/page.js';
import { bytes, count, flag, json, jsonObject, key, reference, serial, text, time, word } from './column.js';

/** Packages, and the releases, plugins and tags that come in them. */
export const packageTables = {
  package: {
    id: serial(),
    name: key(),
    /** With the name, unique. */
    version: key(),
    /** Of the package format, e.g. `5.0.0`. */
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
  /** What clusters are built of. */
  release: {
    id: serial(),
    name: key(),
    /** With the name, unique. */
    version: key(),
    operatingSystem: text().initially(''),
    description: text().initially(''),
    /** `available`, `unavailable` or `manageonly`. */
    state: key().initially('available'),
    isDeployable: flag().initially(1),
    /** Role name -> its properties (`name`, `tags`, `limits` …). */
    rolesMetadata: jsonObject().initially('{}'),
    /** Tag name -> its properties (`has_primary` …), as the release brought them. */
    tagsMetadata: jsonObject().initially('{}'),
    /** Everything else a release says: `volumes_metadata`, `networks_metadata`, `attributes_metadata`, `modes` … */
    metadata: jsonObject().initially('{}'),
    /** The package it came in; null for one made by hand. */
    packageId: reference().nullable(),
    createdAt: time().internal(),
    updatedAt: time().internal(),
  },
  /** What extends clusters. */
  plugin: {
    id: serial(),
    name: key(),
    /** With the name, unique. */
    version: key(),
    /** The name when absent. */
    title: text().derived(),
    /** Of the package format, e.g. `5.0.0`. */
    packageVersion: key(),
    /** Everything else a plugin says: `releases`, `roles_metadata`, `tags_metadata`, `attributes_metadata`, `tasks` … */
    metadata: jsonObject().initially('{}'),
    packageId: reference().nullable(),
    createdAt: time().internal(),
    updatedAt: time().internal(),
  },
  /** A plugin that fits a cluster. It takes part in the cluster's graphs only while enabled. */
  clusterPlugin: {
    clusterId: reference(),
    pluginId: reference(),
    enabled: flag().initially(0),
    /** Settings of the plugin in this cluster. */
    attributes: jsonObject().initially('{}'),
  },
  /** A kind of work that nodes can be for. Exactly one of the three owners is set. */
  tag: {
    id: serial(),
    name: key(),
    releaseId: reference().nullable().internal(),
    pluginId: reference().nullable().internal(),
    clusterId: reference().nullable().internal(),
    /** Brought by a role of a release or plugin: users cannot delete it. */
    readOnly: flag().initially(0),
    /** One of the nodes that have it is its primary. */
    hasPrimary: flag().initially(0),
    metadata: jsonObject().initially('{}'),
  },
  tagNodeAssignment: {
    clusterId: reference().internal(),
    nodeId: reference(),
    /** Name of a tag, or of an instance of one: `mysql:1`. */
    tag: key(),
    /** Who gave it: a role the node was assigned, a user, or an extension. */
    source: word<'role' | 'user' | 'extension'>(),
    /** The role it came with. Empty for none: it is part of the key. */
    role: text(),
  },
  graphSequence: {
    id: serial(),
    /** Unique within the release. */
    name: key(),
    releaseId: reference(),
    /** As given, e.g. `{type: 'default'}`; at least one. */
    graphs: json<readonly JsonObject[], readonly JsonFields[]>(),
  },
};
