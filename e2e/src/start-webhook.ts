// SPDX-License-Identifier: Apache-2.0
/**
 * startRegisteredWebhook starts the webhook on a free port of loopback and registers it with the API server of a test
 * cluster.
 * Usage: `await startRegisteredWebhook(testCluster)`, and then wait for its first answer.
 */
import { registerWebhooks, type TestCluster, startWebhook } from "@switchyard/test-cluster";
import { findFreePorts } from "@switchyard/testing";

/** Starts and registers the webhook. Resolves before the webhook is ready. */
export async function startRegisteredWebhook(testCluster: TestCluster): Promise<void> {
  const [port = 0] = await findFreePorts(1);
  await registerWebhooks(testCluster, port);
  startWebhook(testCluster, "webhook", port);
}
