// SPDX-License-Identifier: Apache-2.0
/**
 * Our webhook beside the API server of a test cluster, on a free port of loopback.
 * Usage: `await startRegisteredWebhook(testCluster)`; wait for its first answer then.
 */
import { registerWebhooks, type TestCluster, startWebhook } from "@switchyard/test-cluster";
import { findFreePorts } from "@switchyard/testing";

export async function startRegisteredWebhook(testCluster: TestCluster): Promise<void> {
  const [port = 0] = await findFreePorts(1);
  await registerWebhooks(testCluster, port);
  startWebhook(testCluster, "webhook", port);
}
