// SPDX-License-Identifier: Apache-2.0
/** Tells on which platform a node runs, from Node.spec.providerID (sriov-operator.md F.1). */
import { isKubeError, type Transport } from "@switchyard/kube";
import type { Logger } from "@switchyard/service";

/** Where network cards come from: "baremetal" is everything that is not a known cloud. */
export type Platform = "baremetal" | "openstack" | "aws";

/** Compares as upstream does, which looks for a part of the text. */
export function platformOf(providerId: string | undefined): Platform {
  if (providerId?.includes("openstack") === true) return "openstack";
  return providerId?.includes("aws") === true ? "aws" : "baremetal";
}

interface ReadPlatformDeps {
  readonly transport: Pick<Transport, "request">;
  readonly nodeName: string;
  readonly log: Logger;
}

/**
 * readPlatform reads the providerID of the node with one request. A node that must not be read, or does not exist, counts as bare
 * metal. Rejects with KubeError for all other answers.
 */
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
