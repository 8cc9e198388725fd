import type { MachineState } from '@sitewright/maas';
import type { CheckVerdict } from '../../core/checks/judge.ts';
import type { PermitWork } from '../../core/permits/limits.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { GitSource } from '../../core/sources/git-source.ts';
import { bytes, choice, count, flag, json, key, siteName, text, time } from './column.ts';

/** Sites, their revisions, and facts from MAAS about their nodes. */
export const siteTables = {
  site: {
    name: siteName(),
    /** Cluster whose software graph runs on the site once it is deployed. */
    cluster: key().nullable(),
    /** The branch that its documents come from. */
    source: json<GitSource>().nullable(),
    createdAt: time().internal(),
    /** 0 if there is none. */
    latestRevision: count().internal(),
    /** The revision of the last successful deployment. */
    lastGoodRevision: count().nullable().internal(),
  },
  revision: {
    site: text(),
    /** 1, 2, 3 … within the site. */
    number: count().internal(),
    /** SHA-256 over names and texts of the files in order, 64 hexadecimal digits. */
    hash: text().internal(),
    /** Stored although its check found errors. */
    forced: flag().internal(),
    /** Findings of its check. */
    diagnostics: json<readonly Diagnostic[]>().initially('[]'),
    author: text().nullable(),
    message: text().nullable(),
    /** Of the commit that it was taken from, and its page. */
    commitId: text().nullable(),
    commitUrl: text().nullable(),
    createdAt: time().internal(),
    fileCount: count().internal(),
    /** Of all texts together, in UTF-8 bytes, before compression. */
    size: count().internal(),
    /** gzip of the JSON array of `{name, text}`. */
    files: bytes().internal(),
    /** gzip of the JSON of its resolved site; null when it has errors. */
    resolved: bytes().nullable().internal(),
  },
  /** A successful deployment of a revision. */
  revisionDeployment: {
    site: text(),
    runId: key(),
    revision: count(),
    at: time().internal(),
  },
  siteClaim: {
    site: siteName(),
    workflowId: key(),
    runId: key(),
    /** Run id of the execution that the run has now: a reset changes it. */
    executionId: key(),
    /** From 1; one more with each take-over. */
    generation: count(),
    claimedAt: time(),
  },
  /** The state of a node's machine in MAAS after a run deployed it. */
  deployedMachine: {
    site: text(),
    node: key(),
    systemId: text(),
    runId: key(),
    revision: count(),
    state: json<MachineState>(),
    at: time(),
  },
  /** The tags that we, not a person, put on a machine in MAAS. */
  givenTags: {
    site: text(),
    systemId: key(),
    tags: json<readonly string[]>(),
  },
  /** The last facts from MAAS about a node; null is unknown. */
  nodeFact: {
    site: text(),
    node: key(),
    systemId: text().nullable(),
    hostname: text().nullable(),
    status: text().nullable(),
    power: text().nullable(),
    tags: json<readonly string[]>().initially('[]'),
    zone: text().nullable(),
    /** Time of the facts; readers decide on their age. */
    seenAt: time(),
  },
  /** What came of a check, for one node or asked once. */
  checkResult: {
    /** ULID. */
    id: key().internal(),
    site: text().internal(),
    name: key(),
    /** Its name in the documents; empty if the check is asked once. */
    node: text(),
    runId: key(),
    verdict: choice<CheckVerdict>(),
    /** The answer in one line. */
    text: text(),
    /** What a command has written; null of other checks. */
    output: text().nullable(),
    /** Of the verdict. */
    at: time(),
    /** From the first question to the verdict. */
    ms: count(),
    /** Of this check and node, while the documents have both. */
    newest: flag().internal(),
  },
  /** A machine that a run may touch, waits for, or has left broken. */
  permit: {
    site: text(),
    /** Its name in the documents of the site. */
    machine: key(),
    runId: key(),
    work: choice<PermitWork>(),
    state: choice<PermitState>(),
    /** `held`: the machine is out of service because of it. */
    counted: flag(),
    /** `waiting`: since when. */
    since: time(),
    /** `waiting`: when the run asked last. */
    askedAt: time(),
  },
  /** One row: who decides about permits holds it. */
  permitTurn: {
    id: key(),
    turn: count(),
  },
};

/** `waiting` and `held` hold while their run has a claim; `failed` until a run succeeds on the machine. */
export type PermitState = 'waiting' | 'held' | 'failed';
