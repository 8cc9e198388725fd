import { amount, flag, unused } from './parameter.js';
import { taskType } from './task-type.js';

export const reboot = taskType('reboot', {
  over: ['agent', 'maas'],
  does: `Writes the boot id down, asks for a restart (\`systemctl reboot\`), and is \`ok\` when the machine is back with another
boot id. One that does not go down is asked three times within the timeout. When its boot id is still the same then, or
the node takes no task at all, a run has the orchestrator's own agent switch the power off and on through MAAS, once,
and waits for the task's time limit until the agent answers with another boot id; without MAAS the task fails with both
reasons. A restart that was cancelled or refused, or that failed in another way, is never forced.`,
  parameters: { timeout: amount('seconds', 900) },
  // The runner keeps the time itself, so that it ends with its own reason.
  limits: ({ timeout }) => ({ timeoutSec: timeout + 60, killGraceSec: 5 }),
  examples: [
    { parameters: { timeout: 0.3 }, result: { outcome: 'failed', failure: { kind: 'not-rebooted', fired: 3 } } },
  ],
});

const ofAstute = {
  timeout: unused('accepted; MAAS has limits of its own'),
  provisioning_info: unused('accepted; MAAS knows the machine'),
  slave_name: unused('accepted; MAAS knows the machine'),
};

export const eraseNode = taskType('erase_node', {
  over: ['maas'],
  does: 'The machine is released with its disks erased: both ends of each disk, as a boot needs them. Nothing of what was deployed starts again.',
  parameters: { secure_erase: flag('true: the whole disk, where it can', false), ...ofAstute },
});

export const moveToBootstrap = taskType('move_to_bootstrap', {
  over: ['maas'],
  does: 'The machine is released: bare, ready for the next deployment.',
  parameters: ofAstute,
});

export const cobblerSync = taskType('cobbler_sync', {
  over: ['maas'],
  does: 'MAAS writes DHCP and DNS itself; it must answer.',
  parameters: { provisioning_info: ofAstute.provisioning_info },
});
