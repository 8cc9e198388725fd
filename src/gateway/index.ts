export { auditedAlarms } from './alarms.ts';
export { createGateway } from './gateway.ts';
export { GatewayClient } from './gateway-client.ts';
export { GatewayConnection, GatewayRefused } from './gateway-connection.ts';
export { enrolNode, type NodeCredentials, readCredentials } from './node-credentials.ts';
export { issueTicket } from './node-ticket.ts';
export type { OrderBook, PlannedTask } from './ports.ts';
export { sourceFilesBelow } from './source-files.ts';
