import type { ActivityDependencies } from '../activities/index.js';
import { agentCloudConfig, mergeUserData } from '../src/agent/onboarding/index.js';
import { issueTicket } from '../src/gateway/index.js';
import type { Settings } from '../src/platform/settings/index.js';
import type { Store } from '../src/store/index.js';
import { gatewayUrl } from './gateway.js';

/**
 * User data of deployed nodes: the operator's own, and where a gateway and a package of the agent are set, the part
 * that makes the node one of ours.
 */
export function nodeUserData(
  settings: Pick<Settings, 'gateway'>,
  store: Store,
  own: string | undefined,
): NonNullable<ActivityDependencies['userData']> {
  const { host, url, agent_package: agentPackage, node_package: nodePackage, data_dir, token_hours } = settings.gateway;
  if (agentPackage === undefined || (host === undefined && url === undefined)) return async () => own;
  return async (site, node, wish) => {
    const office = {
      dataDir: data_dir,
      gatewayUrl: gatewayUrl(settings),
      identities: store.nodeIdentities,
      tokenHours: token_hours,
    };
    const ticket = await issueTicket(office, site, node, wish);
    return mergeUserData([own ?? '', agentCloudConfig(ticket, { agentPackage, nodePackage })]);
  };
}

const WHY = { release: 'its machine was given back', deploy: 'its machine was installed anew' } as const;

/** Certificates of a node end before its machine does, so that no copy of its disks is that node afterwards. */
export const endsIdentities =
  ({ nodeIdentities, audit }: Store): NonNullable<ActivityDependencies['endIdentity']> =>
  async (site, node, by) => {
    const at = new Date().toISOString();
    // The token of the new installation is there already when it begins.
    const count = await nodeIdentities.revoke({ site, node, at, reason: WHY[by], keepTokens: by === 'deploy' });
    if (count > 0)
      await audit.append({
        at,
        actor: 'sitewright',
        action: 'identity.revoke',
        target: `node/${site}/${node}`,
        reason: WHY[by],
      });
  };
