// SPDX-License-Identifier: Apache-2.0
/**
 * goPrograms returns the directory with programs of other projects that tests, lint and delivery use, such as Helm. Each
 * folder of programs/ is a Go module that pins one of them.
 * Usage: `const helm = join(await goPrograms("helm4"), "helm")`.
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { buildGoPrograms, type GoPrograms } from "./build-go-programs.ts";

/** Folders of programs/. */
export type GoProgramsName = keyof typeof known;

const known = {
  actionlint: { title: "actionlint" },
  "cni-plugins": { title: "CNI plugins" },
  containerd: {
    title: "containerd",
    tags: ["no_aufs", "no_btrfs", "no_devmapper", "no_zfs"],
    versions: { "github.com/containerd/containerd/v2/version.Version": "github.com/containerd/containerd/v2" },
  },
  cosign: {
    title: "cosign",
    versions: { "sigs.k8s.io/release-utils/version.gitVersion": "github.com/sigstore/cosign/v3" },
  },
  crane: { title: "crane" },
  helm3: { title: "Helm 3", versions: { "helm.sh/helm/v3/internal/version.version": "helm.sh/helm/v3" } },
  // The oldest Helm 3 that has --take-ownership, and the oldest Helm 4. A simple rollback to upstream's chart fails with both.
  "helm3.17": { title: "Helm 3.17", versions: { "helm.sh/helm/v3/internal/version.version": "helm.sh/helm/v3" } },
  "helm4.0": { title: "Helm 4.0", versions: { "helm.sh/helm/v4/internal/version.version": "helm.sh/helm/v4" } },
  helm4: { title: "Helm 4", versions: { "helm.sh/helm/v4/internal/version.version": "helm.sh/helm/v4" } },
  ignition: { title: "the validator of Ignition" },
  kubeconform: { title: "kubeconform" },
  kubelet: { title: "the kubelet", versions: { "k8s.io/component-base/version.gitVersion": "k8s.io/kubernetes" } },
  // The oldest version that Switchyard supports, and the first one after which a status is stored whatever the rules say of the spec.
  "kubernetes-1.30": apiServer("1.30"),
  "kubernetes-1.33": apiServer("1.33"),
  multus: { title: "Multus" },
  "network-resources-injector": { title: "the network resources injector" },
  "operator-verify": { title: "the validator of OLM's bundles" },
  "ovs-cni": { title: "the ovs CNI plugin" },
  "rdma-cni": { title: "the rdma CNI plugin" },
  "sriov-cni": { title: "the sriov CNI plugin" },
} satisfies Readonly<Record<string, Omit<GoPrograms, "sources" | "cacheName">>>;

/** kube-apiserver and kube-controller-manager of an older version. Clients read the numbers, too. */
function apiServer(version: "1.30" | "1.33"): Omit<GoPrograms, "sources" | "cacheName"> {
  const [gitMajor = "", gitMinor = ""] = version.split(".");
  const variable = (name: string) => `k8s.io/component-base/version.${name}`;
  return {
    title: `the API server of Kubernetes ${version}`,
    versions: { [variable("gitVersion")]: "k8s.io/kubernetes" },
    values: { [variable("gitMajor")]: gitMajor, [variable("gitMinor")]: gitMinor },
  };
}

/** Returns the directory of the programs. Rejects if Go is missing or cannot build them. */
export async function goPrograms(name: GoProgramsName): Promise<string> {
  const sources = join(findWorkspaceRoot(), "tools/go-programs/programs", name);
  return buildGoPrograms({ sources, cacheName: name, ...known[name] });
}
