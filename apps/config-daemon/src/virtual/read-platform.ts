// SPDX-License-Identifier: Apache-2.0
/**
 * readPlatform reads the providerID of the node with one request.
 * Usage: `const platform = await readPlatform({ transport, nodeName, log })`.
 */
import { isKubeError, type Transport } from "@switchyard/kube";
import type { Logger } from "@switchyard/service";
import { platformOf, type Platform } from "./platform.ts";

export interface ReadPlatformDeps {
  readonly transport: Pick<Transport, "request">;
  readonly nodeName: string;
  readonly log: Logger;
}

/** A node that must not be read, or does not exist, counts as bare metal. Rejects with KubeError for all other answers. */
export async function readPlatform({ transport, nodeName, log }: ReadPlatformDeps): Promise<Platform> {
  try {
    const node = await transport.request({ method: "GET", path: `/api/v1/nodes/${encodeURIComponent(nodeName)}` });
    return platformOf(providerIdOf(node));
  } catch (error) {
    if (!isKubeError(error, "Forbidden", "NotFound")) throw error;
    log.warn({ node: nodeName, error }, "providerID of the node cannot be read; assuming bare metal");
    return "baremetal";
  }
}

function providerIdOf(node: unknown): string | undefined {
  const spec: unknown = typeof node === "object" && node !== null ? Reflect.get(node, "spec") : undefined;
  const id: unknown = typeof spec === "object" && spec !== null ? Reflect.get(spec, "providerID") : undefined;
  return typeof id === "string" ? id : undefined;
}
