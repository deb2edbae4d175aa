// SPDX-License-Identifier: Apache-2.0
/**
 * readPages makes the pages of `switchyard doctor -o html` and `switchyard vfs -o html` for a cluster that can only be listed from.
 */
import { afxdpOperatorConfigs, operatorConfigName, sriovOperatorConfigs } from "@switchyard/api";
import { isKubeError, listPages } from "@switchyard/kube/lists";
import { collectObjects } from "../cluster/cluster-objects.ts";
import { clusterDefaults } from "../defaults.ts";
import { diagnose } from "../diagnosis/diagnose.ts";
import { listVfs } from "../diagnosis/list-vfs.ts";
import { createSnapshot } from "../diagnosis/snapshot.ts";
import { silentDiagnostics } from "../terminal.ts";
import { listSnapshot, type Lister } from "../input/list-snapshot.ts";
import { planOffloadedWithPods } from "../ovn-offload/plan-offloaded.ts";
import { makePage } from "../report/build-report.ts";

export interface ReadPagesOptions {
  /** The name of the cluster. */
  readonly cluster: string;
  /** Called when a further kind was listed. */
  readonly onProgress: (done: number, all: number) => void;
}

export interface ClusterPages {
  /** HTML pages in one file each, without scripts. */
  readonly doctor: string;
  readonly vfs: string;
  /** The kinds that could not be listed, with the reason. */
  readonly refused: readonly string[];
}

/** Rejects with KubeError if the cluster cannot be reached. */
export async function readPages(
  lister: Lister,
  { cluster: origin, onProgress }: ReadPagesOptions,
): Promise<ClusterPages> {
  const { resourcePrefix } = clusterDefaults;
  const namespace = (await findNamespace(lister)) ?? clusterDefaults.namespace;
  const { manifests, readKinds, refused } = await listSnapshot(lister, { namespace, origin, onKind: onProgress });
  const cluster = collectObjects(manifests, { namespace, diagnostics: silentDiagnostics, isIgnoredNoted: false });
  const snapshot = createSnapshot(manifests, cluster, { namespace, resourcePrefix, readKinds });
  const rows = listVfs(snapshot);
  const plans = planOffloadedWithPods(cluster, { ...clusterDefaults, namespace, node: undefined }, silentDiagnostics);
  return {
    doctor: makePage(snapshot, { command: "doctor", rows, diagnosis: diagnose(snapshot), plans }),
    vfs: makePage(snapshot, { command: "vfs", rows }),
    refused,
  };
}

/** The namespace with the configuration of the operator; undefined if there is none that may be listed. */
async function findNamespace(lister: Lister): Promise<string | undefined> {
  for (const type of [sriovOperatorConfigs, afxdpOperatorConfigs]) {
    try {
      for await (const { items } of listPages(lister, { type, pageSize: 100 })) {
        const config = items.find(({ metadata }) => metadata.name === operatorConfigName);
        if (config?.metadata.namespace !== undefined) return config.metadata.namespace;
      }
    } catch (error) {
      if (!isKubeError(error, "NotFound", "Forbidden")) throw error;
    }
  }
  return undefined;
}
