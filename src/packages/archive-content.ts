import { compareKeys } from '../core/text/text.ts';
import { BUILDER_CHECKSUMS, explainFp } from './builders-archives.ts';
import { addFolders, type PackageFile, type PackageTree, parentOf } from './package-tree.ts';
import type { PackageDiagnostic } from './problems.ts';
import { piecesOf, readTar, type TarBytes, type TarLimits, type TarMember, type TarProblem } from './tar.ts';

/** Name of the list of checksums inside an archive: the form of `sha256sum`. */
export const CHECKSUM_FILE = 'checksums.sha256';

/** Limits that fit the largest packages and stop archives made to fill memory. */
export interface ArchiveLimits extends TarLimits {
  readonly maxUnpackedBytes: number;
  /** Above `freeBytes`, an archive that grows by more than this factor counts as a bomb. */
  readonly maxRatio: number;
  readonly freeBytes: number;
}

/** Contents that checks read, of one file and of all together. */
export interface KeptContents {
  keeps(path: string, size: number): boolean;
  readonly maxBytes: number;
}

export const DEFAULT_ARCHIVE_LIMITS: ArchiveLimits = {
  maxMembers: 20_000,
  maxPathBytes: 1024,
  maxDepth: 64,
  maxUnpackedBytes: 512 * 1024 * 1024,
  maxRatio: 100,
  freeBytes: 16 * 1024 * 1024,
};

export interface ArchiveReading {
  /** Undefined when the archive is refused. */
  readonly tree: PackageTree | undefined;
  /** Of the members that are files of the tree. */
  readonly members?: readonly TarMember[];
  readonly problems: readonly PackageDiagnostic[];
}

/** An archive that cannot be used, as a finding about the archive itself. */
export const archiveProblem = (archive: string, code: string, message: string, hint?: string): PackageDiagnostic => ({
  severity: 'error',
  code,
  message,
  ...(hint !== undefined && { hint }),
  file: archive,
  line: 1,
  column: 1,
  path: '',
});

/**
 * Makes the tree of an unpacked archive after checking every member for paths that leave the package, links, devices,
 * duplicates and wrong checksums. Any of these refuses the archive. Contents go through memory in pieces; those that
 * checks read stay.
 */
export async function readArchiveContent(
  archive: string,
  bytes: TarBytes,
  limits: TarLimits,
  sha256: (pieces: Iterable<Uint8Array>) => Promise<string>,
  kept: KeptContents,
): Promise<ArchiveReading> {
  const { members, problems } = readTar(bytes, limits);
  if (problems.length > 0) return refused(problems.map((problem) => describe(archive, problem)));
  const inside = withoutTopFolder(members);
  const fileNames = new Set(inside.filter(({ kind }) => kind === 'file').map(({ path }) => path));
  const conflict = inside.find(({ path }) => ancestors(path).some((folder) => fileNames.has(folder)));
  if (conflict) return refused([archiveProblem(archive, 'archive.damaged', `'${conflict.path}' lies inside a file`)]);
  const files = new Map<string, PackageFile>();
  const folders = new Set<string>(['']);
  let bytesKept = 0;
  for (const { path, kind, executable, at, size } of inside) {
    if (kind === 'folder') {
      addFolders(folders, path);
      continue;
    }
    addFolders(folders, parentOf(path));
    const keeps = path === CHECKSUM_FILE ? size <= kept.maxBytes : kept.keeps(path, size);
    if (keeps) bytesKept += size;
    if (bytesKept > kept.maxBytes) {
      const message = `its files of data have more than ${kept.maxBytes} bytes together`;
      return refused([archiveProblem(archive, 'archive.too-much-data', message, 'Remove files that no check reads.')]);
    }
    const sum = await sha256(piecesOf(bytes, at, size));
    files.set(path, {
      size,
      executable,
      sha256: sum,
      ...(keeps && { content: Uint8Array.from(bytes.read(at, size)) }),
    });
  }
  if (files.has(BUILDER_CHECKSUMS) && !files.has(CHECKSUM_FILE)) {
    const { code, message, hint } = explainFp(members[0]!.path.split('/', 1)[0]!);
    return refused([archiveProblem(archive, code, message, hint)]);
  }
  const wrong = checkSums(archive, files);
  if (wrong.length > 0) return refused(wrong);
  files.delete(CHECKSUM_FILE);
  return { tree: { name: archive, files, folders }, members: inside, problems: [] };
}

function ancestors(path: string): string[] {
  const folders: string[] = [];
  for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) folders.push(folder);
  return folders;
}

const refused = (problems: readonly PackageDiagnostic[]): ArchiveReading => ({ tree: undefined, problems });

/** An archive has one top folder, NAME-VERSION; the package is its content. */
function withoutTopFolder(members: readonly TarMember[]): readonly TarMember[] {
  const tops = new Set(members.map(({ path }) => path.split('/', 1)[0]!));
  const [top] = tops;
  if (tops.size !== 1 || members.some(({ path, kind }) => path === top && kind === 'file')) return members;
  return members
    .filter(({ path }) => path !== top)
    .map((member) => ({ ...member, path: member.path.slice(top!.length + 1) }));
}

/** The list as `build` writes it: sorted by path. */
export const formatChecksums = (sums: ReadonlyMap<string, string>): string =>
  [...sums]
    .sort(compareKeys)
    .map(([path, sum]) => `${sum}  ${path}\n`)
    .join('');

function checkSums(archive: string, files: ReadonlyMap<string, PackageFile>): PackageDiagnostic[] {
  const list = files.get(CHECKSUM_FILE);
  if (!list?.content) {
    const hint = 'Build the archive with `sitewright package build`, or unpack it and install its folder.';
    return [archiveProblem(archive, 'archive.no-checksums', `the archive has no ${CHECKSUM_FILE}`, hint)];
  }
  const wrong: PackageDiagnostic[] = [];
  const report = (message: string) =>
    wrong.push(archiveProblem(archive, 'archive.checksum', message, 'Download the archive again, or rebuild it.'));
  const listed = new Set<string>();
  for (const line of new TextDecoder().decode(list.content).split('\n')) {
    if (line === '') continue;
    const match = /^([0-9a-f]{64}) [ *](.+)$/.exec(line);
    if (!match) {
      report(`${CHECKSUM_FILE} has a line of another form: '${line.slice(0, 80)}'`);
      continue;
    }
    const [, sum, path] = match as unknown as [string, string, string];
    listed.add(path);
    const file = files.get(path);
    if (file === undefined) report(`'${path}' is listed but not in the archive`);
    else if (file.sha256 !== sum) report(`'${path}' differs from its checksum`);
  }
  for (const path of files.keys()) if (path !== CHECKSUM_FILE && !listed.has(path)) report(`'${path}' has no checksum`);
  return wrong;
}

function describe(archive: string, problem: TarProblem): PackageDiagnostic {
  switch (problem.kind) {
    case 'damaged':
      return archiveProblem(
        archive,
        'archive.damaged',
        `the archive is damaged: ${problem.detail}`,
        'Download it again, or rebuild it.',
      );
    case 'bad-path':
      return archiveProblem(
        archive,
        'archive.path',
        `the path '${problem.path}' is refused: ${problem.detail}`,
        'Do not install this archive.',
      );
    case 'link':
      return archiveProblem(
        archive,
        'archive.link',
        `'${problem.path}' is a link to '${problem.target}': an archive holds files and folders only`,
        'Build the archive with `sitewright package build`, which includes the files themselves.',
      );
    case 'special':
      return archiveProblem(
        archive,
        'archive.special-file',
        `'${problem.path}' is ${problem.detail}`,
        'Do not install this archive.',
      );
    case 'twice':
      return archiveProblem(
        archive,
        'archive.member-twice',
        `'${problem.path}' is in the archive twice`,
        'Do not install this archive.',
      );
    case 'too-many':
      return archiveProblem(archive, 'archive.too-many-files', `the archive has more than ${problem.limit} members`);
  }
}
