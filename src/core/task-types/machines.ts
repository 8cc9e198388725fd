import { amount, flag, unused } from './parameter.ts';
import { taskType } from './task-type.ts';

export const reboot = taskType('reboot', {
  over: ['agent', 'maas'],
  does: `Records the boot id, requests a restart (\`systemctl reboot\`), and is \`success\` when the machine is back with another
boot id. If the machine does not go down, the request is sent up to three times within the timeout. If the boot id is
still the same then, or the node accepts no task at all, the orchestrator's own agent power-cycles the machine through
MAAS, once, and the run waits for up to the task's timeout until the agent reports another boot id. Without MAAS the
task fails with both reasons. A restart that was cancelled, was refused or failed in another way is never forced.`,
  parameters: { timeout: amount('seconds', 900) },
  // The runner enforces the timeout itself, to fail with its own reason.
  limits: ({ timeout }) => ({ timeoutSec: timeout + 60, killGraceSec: 5 }),
  examples: [
    { parameters: { timeout: 0.3 }, result: { outcome: 'failed', failure: { kind: 'not-rebooted', fired: 3 } } },
  ],
});

const ofAstute = {
  timeout: unused('accepted; MAAS has its own limits'),
  provisioning_info: unused('accepted; MAAS knows the machine'),
  slave_name: unused('accepted; MAAS knows the machine'),
};

export const eraseNode = taskType('erase_node', {
  does: 'Releases the machine and erases both ends of each disk, so that the deployed system cannot boot again.',
  parameters: { secure_erase: flag('true: erase whole disks where supported', false), ...ofAstute },
});

export const moveToBootstrap = taskType('move_to_bootstrap', {
  does: 'Releases the machine: it is bare and ready for the next deployment.',
  parameters: ofAstute,
});

export const cobblerSync = taskType('cobbler_sync', {
  does: 'Checks that MAAS answers. MAAS manages DHCP and DNS itself.',
  parameters: { provisioning_info: ofAstute.provisioning_info },
});
