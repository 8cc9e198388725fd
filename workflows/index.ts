/** The only entry point of the workflow bundle. Its exports are the workflow types (workflows/protocol.ts), and the workflow for unknown types. */

export { run_call } from './call.ts';
export { drain_agent } from './drain-agent.ts';
export { execute_graph } from './execute-graph.ts';
export { send_notice } from './notices.ts';
export { run_graph_part } from './run-graph-part.ts';
export { deploy_site, redeploy_nodes, test_site, update_site } from './site-workflows.ts';
export { unknown_workflow as default } from './unknown-workflow.ts';
