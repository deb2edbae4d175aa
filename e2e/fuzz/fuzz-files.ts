// SPDX-License-Identifier: Apache-2.0
/** The files with targets, by their paths from the root of the workspace. corpus.test.ts compares the list with the files that exist. */
export const fuzzFiles: readonly string[] = [
  "e2e/fuzz/kubeconfig.fuzz.ts",
  "libs/netlink/src/wire/netlink.fuzz.ts",
  "libs/ovsdb/src/client/ovsdb.fuzz.ts",
  "libs/kubelet/src/protobuf/kubelet.fuzz.ts",
  "libs/nri/src/wire/nri.fuzz.ts",
  "libs/host/src/linux/host.fuzz.ts",
  "libs/render/src/networks/networks.fuzz.ts",
  "apps/cli/src/input/manifests.fuzz.ts",
  "apps/config-daemon/src/boot-files/node-files.fuzz.ts",
  "apps/dra-driver/src/attach/networks-of-claims.fuzz.ts",
  "apps/eve-bridge/src/request/eve-bridge.fuzz.ts",
  "apps/webhook/src/server/webhook.fuzz.ts",
];
