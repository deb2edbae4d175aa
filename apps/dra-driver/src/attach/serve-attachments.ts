// SPDX-License-Identifier: Apache-2.0
/**
 * serveAttachments connects the driver to the container runtime as a plugin of NRI, and attaches the VFs of claims to its pods. Claims are
 * prepared also while the runtime cannot be reached: pods whose networks Multus attaches do not need it.
 */
import { networkAttachmentDefinitions, resourceClaims } from "@switchyard/api";
import type { HostFiles } from "@switchyard/host";
import { objectPath, recordAt, type Transport } from "@switchyard/kube";
import { runPlugin } from "@switchyard/nri";
import type { ClaimRecord } from "@switchyard/render";
import { isErrno, type Logger } from "@switchyard/service";
import type { WriteClaimStatus } from "../claims/claim-status.ts";
import { createAttachments } from "./attachments.ts";
import { createPodClaims } from "./pod-claims.ts";
import type { RunPlugin } from "./run-chain.ts";

/** How the driver reaches the container runtime and the CNI plugins. */
export interface Attach {
  /** Path of the runtime's socket for plugins, as this process sees it. */
  readonly socketPath: string;
  readonly runPlugin: RunPlugin;
}

export interface ServeAttachmentsOptions extends Attach {
  readonly transport: Transport;
  readonly nodeName: string;
  readonly files: HostFiles;
  readonly records: () => Promise<readonly ClaimRecord[]>;
  readonly writeStatus: WriteClaimStatus;
  /** Called when the runtime has accepted the plugin, and when the connection has ended. */
  readonly connected: (isConnected: boolean) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Resolves when `signal` has aborted. Never rejects. */
export async function serveAttachments(options: ServeAttachmentsOptions): Promise<void> {
  const { transport, nodeName: pool, files, records, log, signal } = options;
  const attachments = createAttachments({
    ...{ files, runPlugin: options.runPlugin, log, signal },
    claimsOf: createPodClaims({
      ...{ pool, records },
      readClaim: ({ namespace, name }, until) =>
        transport.request({ method: "GET", path: objectPath(resourceClaims, { namespace, name }), signal: until }),
    }),
    async readNetwork(network, until) {
      const path = objectPath(networkAttachmentDefinitions, network);
      const found = await transport.request({ method: "GET", path, signal: until });
      const { config } = recordAt(found, "spec");
      if (typeof config !== "string" || config === "") {
        const { namespace, name } = network;
        throw new Error(`NetworkAttachmentDefinition ${namespace}/${name}: spec.config is empty`);
      }
      return config;
    },
    attached(claim, networks) {
      void options.writeStatus(claim, networks);
    },
  });
  await runPlugin(
    {
      socketPath: options.socketPath,
      // Plugins are called in the order of their indexes; others may want to see the interface.
      ...{ name: "switchyard-dra-driver", index: "10" },
      handlers: {
        ...attachments,
        synchronize(pods, runtime) {
          options.connected(true);
          log.info({ runtime: runtime.name, version: runtime.version }, "connected to the container runtime");
          attachments.synchronize(pods, runtime);
        },
      },
      ended(error, pauseMs) {
        options.connected(false);
        // A runtime without NRI is no fault.
        log[isErrno(error, "ENOENT") ? "debug" : "warn"](
          { error, pauseMs },
          "no connection to the container runtime; retrying",
        );
      },
    },
    signal,
  );
}
