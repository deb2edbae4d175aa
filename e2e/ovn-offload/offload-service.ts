// SPDX-License-Identifier: Apache-2.0
/**
 * startOffloadService starts ovn-offload as a process with the rights of its service account, behind a proxy, which records its writes
 * and can inject faults.
 */
import { defaultOffloadNetwork, ovnOffloadIdentity, type OvnOffloadIdentitySettings } from "@switchyard/render";
import { namespace, type TestCluster } from "@switchyard/test-cluster";
import { findWorkspaceRoot } from "@switchyard/testing";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { describeRequest, type ApiRequest } from "../src/api/api-request.ts";
import { FaultProxy } from "../src/api/fault-proxy.ts";
import { forwardAll, type WriteOutcome, type FaultRules } from "../src/api/fault-rules.ts";
import { OperatorProcess } from "../src/operator/operator-process.ts";

/** The label that the tests' ConfigMap hardware-offload-config names. */
const hostLabel = "example.com/host";

export interface OffloadService {
  readonly process: OperatorProcess;
  readonly proxy: FaultProxy;
  /** The writes that the API server has completed, in order: "PATCH /api/v1/nodes/host-1 by switchyard-ovn-offload". */
  readonly writes: readonly string[];
  /** The writes that the API server has refused: "409 PATCH /api/v1/nodes/host-1 by switchyard-ovn-offload". */
  readonly refused: readonly string[];
  /** Decides about the next writes. */
  setFate(fateOf: (write: ApiRequest) => WriteOutcome): void;
  /** Decides about the next reads, and about events of watches. */
  setReads(reads: Partial<Pick<FaultRules, "outcomeOfRead" | "whenLive">>): void;
}

/** The namespace of OVN-Kubernetes must exist. The service ends with the test cluster. */
export async function startOffloadService(
  testCluster: TestCluster,
  flags: readonly string[] = [],
): Promise<OffloadService> {
  const { directory } = testCluster;
  const writes: string[] = [];
  const refused: string[] = [];
  let reads: Pick<FaultRules, "outcomeOfRead" | "whenLive"> = forwardAll;
  let fateOf = (write: ApiRequest): WriteOutcome => forwardAll.outcomeOf(write);
  const rules: FaultRules = {
    ...forwardAll,
    outcomeOf: (write) => fateOf(write),
    answered(write, status) {
      if (status < 300) writes.push(describeRequest(write));
      else refused.push(`${status} ${describeRequest(write)}`);
    },
    outcomeOfRead: (read) => reads.outcomeOfRead(read),
    whenLive: (watch) => reads.whenLive(watch),
  };
  const proxy = testCluster.use(await FaultProxy.before(await grantOffloadRights(testCluster), rules));
  const main = join(findWorkspaceRoot(), "apps/ovn-offload/src/main.ts");
  const process = testCluster.use(
    await OperatorProcess.start({
      main,
      server: proxy.url,
      namespace,
      directory: await mkdtemp(join(directory, "ovn-offload-")),
      flags: ["--leader-elect=false", ...flags], // renewals of the lease are writes, too
    }),
  );
  return {
    process,
    proxy,
    writes,
    refused,
    setFate(next) {
      fateOf = next;
    },
    setReads(next) {
      reads = { ...forwardAll, ...next };
    },
  };
}

/**
 * grantOffloadRights creates the service account of ovn-offload with its rights and their limits, and returns the path of a
 * kubeconfig with its token.
 */
export async function grantOffloadRights({ cluster }: TestCluster): Promise<string> {
  const serviceAccount = "ovn-offload";
  const kinds = await cluster.kubectl(["api-resources", "-o", "name"]);
  const settings: OvnOffloadIdentitySettings = {
    namespace,
    serviceAccount,
    hostLabel,
    ovnNamespace: "ovn-kubernetes",
    network: defaultOffloadNetwork,
    clusterType: kinds.includes("machineconfigs.") ? "openshift" : "kubernetes",
  };
  const { reading, limits, writing } = ovnOffloadIdentity(settings);
  const list = { apiVersion: "v1", kind: "List", items: [...reading, ...limits, ...writing] };
  await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: JSON.stringify(list) });
  const token = await cluster.kubectl(["create", "token", serviceAccount, "-n", namespace, "--duration=24h"]);
  return cluster.clientFor({ token: token.trim() });
}
