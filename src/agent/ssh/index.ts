export { SshNode, type SshNodeOptions } from './ssh-node.ts';
