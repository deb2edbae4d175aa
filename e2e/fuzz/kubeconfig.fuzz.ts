// SPDX-License-Identifier: Apache-2.0
/** A kubeconfig has tokens and keys, so errors about it do not quote it, except the names of its entries. No program of it runs. */
import { isRecord, KubeError } from "@switchyard/kube";
import { readKubeconfig } from "@switchyard/kube/kubeconfig";
import { parseKubeconfigFields } from "@switchyard/kube/testing";
import { catchDocumented, fuzzSecret, refuseSecret, type FuzzTarget } from "@switchyard/testing/fuzz";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const yaml = `apiVersion: v1
kind: Config
current-context: lab
clusters:
- name: lab
  cluster: {server: "https://192.0.2.1:6443", insecure-skip-tls-verify: true, proxy-url: "socks5://u:p@h"}
contexts:
- name: lab
  context: {cluster: lab, user: admin, namespace: default}
users:
- name: admin
  user:
    token: ${fuzzSecret}
    exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, args: [eks, get-token], env: [{name: A, value: b}]}
- name: other
  user: {username: u, password: "${fuzzSecret}", auth-provider: {name: oidc, config: {id-token: "${fuzzSecret}"}}}
`;
const json = JSON.stringify({
  ...{ "current-context": "a", clusters: [{ name: "a", cluster: { server: "http://h" } }] },
  ...{ contexts: [{ name: "a", context: { cluster: "a", user: "u" } }] },
  users: [{ name: "u", user: { tokenFile: "/t", "client-key-data": fuzzSecret, as: "x", "as-groups": ["g"] } }],
});

const secretKeys = ["token", "password", "id-token", "client-key-data"];

/** Whether the secret is where no secret belongs, such as in a name, which an error may show. */
function isMisplaced(value: unknown): boolean {
  if (typeof value === "string") return value.includes(fuzzSecret);
  if (Array.isArray(value)) return value.some(isMisplaced);
  if (!isRecord(value)) return false;
  return Object.entries(value).some(
    ([key, member]) =>
      key.includes(fuzzSecret) || (!(secretKeys.includes(key) && typeof member === "string") && isMisplaced(member)),
  );
}

let path = "";

/** readKubeconfig reads files. */
function write(input: Buffer): string {
  path ||= join(mkdtempSync(join(tmpdir(), "switchyard-fuzz-")), "config");
  writeFileSync(path, input);
  return path;
}

function isDocumented(error: unknown): boolean {
  return error instanceof KubeError && error.code === "BadConfig";
}

export const targets: readonly FuzzTarget[] = [
  {
    name: "kubeconfig",
    seeds: [yaml, json, `{"x":&a [*a],"users":[{"token":"${fuzzSecret}"}]}`, `users: [\ntoken: ${fuzzSecret}`],
    words: [
      "auth-provider",
      "as-uid",
      "as-user-extra",
      "certificate-authority",
      "interactiveMode",
      "provideClusterInfo",
    ],
    async run(input) {
      const fields = catchDocumented(() => parseKubeconfigFields("/k", input.toString("utf8")), isDocumented);
      if ("error" in fields) {
        refuseSecret(fields.error);
        return;
      }
      try {
        await readKubeconfig([write(input)]);
      } catch (error) {
        if (!isDocumented(error)) throw error;
        if (!isMisplaced(fields.value)) refuseSecret(error);
      }
    },
  },
];
