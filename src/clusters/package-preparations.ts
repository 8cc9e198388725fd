import { given } from '../core/data/given.ts';
import { isMapping } from '../core/data/plain-value.ts';
import type { GraphTask, Preparation } from '../graph/index.ts';
import { isFormat1 } from './plugin-tasks.ts';
import type { ClusterSources, NodeFiles } from './sources.ts';

/** A package, or a release that was made by hand. */
interface PackageNames {
  readonly name: string;
  readonly version: string;
  /** Its format. */
  readonly packageVersion?: string;
}

/** Folder of a package's scripts on nodes. */
export const pluginFolder = (pack: PackageNames): string => `/etc/fuel/plugins/${nameOnNodes(pack)}/`;

/** As in Fuel: its name and the first two numbers of its version, for packages of format 1 the whole version. */
const nameOnNodes = ({ name, version, packageVersion }: PackageNames): string =>
  `${name}-${isFormat1(packageVersion) ? version : version.split('.').slice(0, 2).join('.')}`;

/** Where the repositories of packages are on nodes. */
const REPOSITORIES = '/var/lib/sitewright/repositories';

/** The folders for nodes in a stored record of a release or plugin; undefined if its package has none. */
export function nodeFilesOf(record: unknown, pack: PackageNames) {
  const stored = isMapping(record) && isMapping(record.node_files) ? record.node_files : {};
  const folder = (name: string): NodeFiles['scripts'] => {
    const one = stored[name];
    return isMapping(one) && typeof one.src === 'string' && typeof one.digest === 'string'
      ? { src: one.src, digest: one.digest }
      : undefined;
  };
  const [scripts, repository] = [folder('scripts'), folder('repository')];
  if (scripts === undefined && repository === undefined) return undefined;
  return { package: nameOnNodes(pack), folder: pluginFolder(pack), scripts, repository };
}

/**
 * Tasks that bring the files of packages to the nodes that have work of them: the scripts, and the repository with its
 * entry in the sources of the node's package manager.
 */
export function packagePreparations({ release, plugins }: ClusterSources): readonly Preparation[] {
  return [
    ...(release.files === undefined ? [] : [preparation('release', undefined, release.files)]),
    ...plugins.flatMap(({ name, files }) => (files === undefined ? [] : [preparation('plugins', name, files)])),
  ];
}

function preparation(layer: Preparation['layer'], owner: string | undefined, files: NodeFiles): Preparation {
  const tasks: GraphTask[] = [];
  const { package: name, folder, scripts, repository } = files;
  if (scripts !== undefined)
    tasks.push({ id: `${name}-files`, type: 'package_files', parameters: { ...scripts, dst: folder, cwd: '/' } });
  if (repository !== undefined) {
    const dst = `${REPOSITORIES}/${name}`;
    const id = `${name}-repository-files`;
    tasks.push(
      { id, type: 'package_files', parameters: { ...repository, dst, cwd: '/' } },
      {
        id: `${name}-repository`,
        type: 'shell',
        requires: [id],
        parameters: { cmd: configureRepository(name, dst), timeout: 300, retries: 2, interval: 5, cwd: '/' },
      },
    );
  }
  const at = owner === undefined ? [layer, 'files'] : [layer, owner, 'files'];
  return {
    layer,
    ...given({ owner }),
    tasks: tasks.map((task) => ({
      task,
      at,
      layer,
      ...given({ owner }),
      replaces: [],
      prepares: true,
    })),
  };
}

/**
 * The index in a repository shows its package manager. It is trusted because the order names the hash of
 * every file. Only its own list is refreshed: other repositories of the node may be unreachable.
 */
const configureRepository = (name: string, folder: string): string => `set -e
put() { # path; new content on standard input
  cat >"$1.new"
  if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}
for index in $(cd '${folder}' && find . \\( -name Packages -o -name Packages.gz -o -name repomd.xml \\) | sort); do
  case $index in
    */repomd.xml) yum="$yum \${index%/repodata/repomd.xml}" ;;
    *) apt="$apt \${index%/*}" ;;
  esac
done
if [ -n "$apt" ] && command -v apt-get >/dev/null; then
  list=/etc/apt/sources.list.d/${name}.list
  for at in $(printf '%s\\n' $apt | sort -u); do echo "deb [trusted=yes] file:${folder} $at/"; done | put "$list"
  apt-get -q update -o Dir::Etc::sourcelist="$list" -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0
elif [ -n "$yum" ] && [ -d /etc/yum.repos.d ]; then
  for at in $yum; do
    printf '[%s]\\nname=%s\\nbaseurl=file://%s\\nenabled=1\\ngpgcheck=0\\n' "${name}$(echo "\${at#.}" | tr -c 'a-zA-Z0-9\\n' -)" '${name}' "${folder}\${at#.}"
  done | put /etc/yum.repos.d/${name}.repo
else
  echo 'the repository of ${name} has no index for the package manager of this node' >&2
  exit 1
fi
`;
