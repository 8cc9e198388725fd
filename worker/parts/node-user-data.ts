import type { ActivityDependencies } from '../../activities/index.ts';
import { agentCloudConfig, mergeUserData } from '../../src/agent/onboarding/user-data.ts';
import { issueTicket } from '../../src/gateway/index.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import type { Store } from '../../src/store/index.ts';
import { gatewayUrl } from './of-settings.ts';

/**
 * User data of deployed nodes: the operator's own and, if a gateway and an agent package are configured, the part that
 * installs the agent.
 */
export function nodeUserData(
  settings: Pick<Settings, 'gateway'>,
  store: Store,
  own: string | undefined,
): NonNullable<ActivityDependencies['userData']> {
  const { host, url, agent_package: agentPackage, node_package: nodePackage, data_dir, token_hours } = settings.gateway;
  if (agentPackage === undefined || (host === undefined && url === undefined)) return async () => own;
  return async (site, node, cause) => {
    const office = {
      dataDir: data_dir,
      gatewayUrl: gatewayUrl(settings),
      identities: store.nodeIdentities,
      tokenHours: token_hours,
    };
    const ticket = await issueTicket(office, site, node, cause);
    return mergeUserData([own ?? '', agentCloudConfig(ticket, { agentPackage, nodePackage })]);
  };
}

const WHY = { release: 'its machine was released', deploy: 'its machine was redeployed' } as const;

/** Revokes a node's certificates before its machine is released, so that a copy of its disks cannot act as the node. */
export const endsIdentities =
  ({ nodeIdentities, audit }: Store): NonNullable<ActivityDependencies['endIdentity']> =>
  async (site, node, by) => {
    const at = new Date().toISOString();
    // A deployment already has the token of the new installation.
    const count = await nodeIdentities.revoke({ site, node, at, reason: WHY[by], keepUnused: by === 'deploy' });
    if (count > 0)
      await audit.append({
        at,
        actor: 'sitewright',
        action: 'identity.revoke',
        target: `node/${site}/${node}`,
        reason: WHY[by],
      });
  };
