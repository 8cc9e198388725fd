export { type Alarm, type Alarms, auditedAlarms } from './alarms.js';
export { createGateway, type GatewayParts } from './gateway.js';
export { GatewayClient } from './gateway-client.js';
export { GatewayConnection, GatewayRefused } from './gateway-connection.js';
export { enrolNode, type NodeCredentials, readCredentials } from './node-credentials.js';
export { issueTicket, type TicketOffice } from './node-ticket.js';
export type { LogSink, OrderBook, PlannedTask, SourceFiles } from './ports.js';
export { sourceFilesBelow } from './source-files.js';
