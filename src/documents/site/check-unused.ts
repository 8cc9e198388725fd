import { isMapping } from '../../core/data/plain-value.ts';
import type { BootActionData, RegionData } from '../schemas/boot-action.ts';
import type { ReportLayout } from './owned-value.ts';
import type { SiteDocument } from './site-document.ts';

/** As Drydock reads versions of packages. */
const PACKAGE_VERSION = /^(?:\d+:)?[a-zA-Z0-9.+~-]+-[a-zA-Z0-9.+~]+$/;

/** Boot actions are checked as far as Drydock checks them; one warning says that none is run. */
export function checkBootActions(actions: readonly SiteDocument<BootActionData>[], report: ReportLayout): void {
  for (const document of actions) {
    const wrong = (under: readonly (string | number)[], message: string, hint: string): void =>
      report({ document, path: ['data'] }, { code: 'document.bad-boot-action', message, hint, under });
    const { assets, node_filter: filter } = document.data;
    for (const [index, { type, path, data }] of assets.entries()) {
      if (type === 'file' && path === undefined)
        wrong(['assets', index], `a file of '${document.name}' has no path`, 'Give it one.');
      for (const [name, version] of type === 'pkg_list' && isMapping(data) ? Object.entries(data) : [])
        if (typeof version === 'string' && version !== '' && !PACKAGE_VERSION.test(version))
          wrong(
            ['assets', index, 'data', name],
            `'${version}' is no version of a package, in '${document.name}'`,
            'Write VERSION-REVISION, such as 1.2-1.',
          );
    }
    if (!filter) continue;
    const isEmpty = (one: Readonly<Record<string, unknown>>): boolean =>
      ['node_names', 'node_tags', 'rack_names', 'node_labels'].every(
        (key) => one[key] === undefined || one[key] === null,
      );
    const isOfNone = filter.filter_set_type === 'intersection' && filter.filter_set.length === 0;
    if (isOfNone || filter.filter_set.some((one) => one.filter_type === 'intersection' && isEmpty(one)))
      wrong(
        ['node_filter', 'filter_set'],
        `an intersection of '${document.name}' has a filter without nodes`,
        'Name node_names, node_tags, rack_names or node_labels.',
      );
  }
  const [first] = actions;
  if (!first) return;
  report(
    { document: first, path: [] },
    {
      severity: 'warning',
      code: 'document.no-effect',
      message: `boot actions are not run (${actions.map(({ name }) => name).join(', ')})`,
      hint: 'Use user data, or a graph on the cluster of the site.',
      under: ['schema'],
    },
  );
}

/** What a region sets up is in MAAS: its keys and repositories are for people to set there. */
export function checkRegions(regions: readonly SiteDocument<RegionData>[], report: ReportLayout): void {
  for (const document of regions) {
    const { authorized_keys: keys = [], repositories = {}, tag_definitions: tags = [] } = document.data;
    const none = [
      keys.length > 0 ? 'its SSH keys (authorized_keys) reach no machine' : [],
      Object.keys(repositories).length > 0 ? 'its package repositories are not configured' : [],
      tags.length > 0 ? 'its tag_definitions are not made' : [],
    ].flat();
    report(
      { document, path: [] },
      {
        severity: 'warning',
        code: 'document.no-effect',
        message: `the region '${document.name}' has no effect${none.length > 0 ? `: ${none.join(', ')}` : ''}`,
        hint: 'In MAAS: SSH keys of the user under Preferences, package repositories under Settings, tags under Machines.',
        under: ['schema'],
      },
    );
  }
}
