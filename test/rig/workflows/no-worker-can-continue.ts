/** A build of the workflow with a defect: each worker fails with it. */
export async function deploy_site(): Promise<never> {
  throw new TypeError('Cannot read properties of undefined (reading ok)');
}
