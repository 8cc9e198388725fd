export { type InstallationEnd, installOverSsh } from './install-over-ssh.ts';
export { agentOptionsOf, type NodePolicy, policyRefusal, usablePolicy } from './node-policy.ts';
export { parseSshTarget, type SshTarget, sshTargetProblem } from './ssh-command.ts';
export { systemdUnit } from './systemd-unit.ts';
export { agentCloudConfig, mergeUserData } from './user-data.ts';
