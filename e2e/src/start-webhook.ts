// SPDX-License-Identifier: Apache-2.0
/**
 * Our webhook beside the API server of a stage, on a free port of loopback.
 * Usage: `await startRegisteredWebhook(stage)`; wait for its first answer then.
 */
import { registerWebhooks, startWebhook } from "@switchyard/demo/admission";
import type { Stage } from "@switchyard/demo/stage";
import { findFreePorts } from "@switchyard/testing";

export async function startRegisteredWebhook(stage: Stage): Promise<void> {
  const [port = 0] = await findFreePorts(1);
  await registerWebhooks(stage, port);
  startWebhook(stage, "webhook", port);
}
