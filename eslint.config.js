// SPDX-License-Identifier: Apache-2.0
/** Lint for the whole workspace. `arrows` is the table in docs/contributing/architecture.md: who may import whom. */
import nx from "@nx/eslint-plugin";
import tseslint from "typescript-eslint";
import shortSentences from "./tools/nx/short-sentences.js";

/** Tag of a project -> tags of the projects that it may import. */
const arrows = {
  "layer:model": [],
  "layer:domain": ["layer:domain", "layer:model"],
  "layer:platform": ["layer:platform"],
  "layer:host": ["layer:platform", "layer:model"],
  "layer:app": ["layer:domain", "layer:platform", "layer:model"],
  "layer:node-app": ["layer:host", "layer:domain", "layer:platform", "layer:model"], // processes that run on each node
  "layer:cli": ["layer:standalone", "layer:domain", "layer:platform", "layer:model"], // for eve-bridge's doctor
  "layer:standalone": [], // eve-bridge: node: builtins only
  "layer:test": ["layer:test", "layer:platform", "layer:model"],
  "layer:tool": [
    "layer:tool",
    "layer:node-app",
    "layer:test",
    "layer:host",
    "layer:domain",
    "layer:platform",
    "layer:model",
  ],
};

/** The rule that checks the arrows; tests may import `extraTags` too. */
function boundaries(extraTags) {
  const depConstraints = Object.entries(arrows).map(([sourceTag, allowed]) => ({
    sourceTag,
    onlyDependOnLibsWithTags: [...allowed, ...extraTags],
  }));
  return { "@nx/enforce-module-boundaries": ["error", { depConstraints }] };
}

const foreign = (name, room) => ({ name, message: `Only ${room} may import ${name}.` });
const koffi = foreign("koffi", "libs/netlink");
const yaml = foreign(
  "yaml",
  "libs/kube/src/kubeconfig, apps/config-daemon/src/boot-files, apps/operator/src/commands, apps/cli, tools and e2e",
);
// Some 20 MB each: no process has them that has no kubeconfig (docs/decisions/001-kubernetes-transport.md).
const ofKubeconfigs = ["@kubernetes/client-node", "openid-client", "undici"].map((name) =>
  foreign(name, "libs/kube/src/kubeconfig and e2e"),
);
// It loads koffi, which costs memory on each node.
const wholeHost = { name: "@switchyard/host", message: "device-plugin-config imports @switchyard/host/sysfs only." };
const only = (paths) => ({ "no-restricted-imports": ["error", { paths }] });

export default tseslint.config(
  { ignores: ["**/dist/**", "**/node_modules/**", "**/*.js", "**/*.mjs", "**/*.cjs", "**/*.gen.ts"] },
  {
    files: ["**/*.ts"],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { "@nx": nx, comments: { rules: { "short-sentences": shortSentences } } },
    rules: {
      ...boundaries([]),
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      "comments/short-sentences": "error",
      // `await using _lock = …` is held, not used.
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true },
      ],
      ...only([koffi, yaml, ...ofKubeconfigs]),
    },
  },
  { files: ["libs/netlink/**/*.ts"], rules: only([yaml, ...ofKubeconfigs]) },
  {
    files: [
      "tools/**/*.ts",
      "apps/cli/**/*.ts",
      "apps/config-daemon/src/{boot,boot-files}/*.ts",
      "apps/operator/src/commands/**/*.ts",
    ],
    rules: only([koffi, ...ofKubeconfigs]),
  },
  { files: ["libs/kube/src/kubeconfig/**/*.ts", "e2e/**/*.ts"], rules: only([koffi]) },
  { files: ["apps/device-plugin-config/**/*.ts"], rules: only([koffi, yaml, wholeHost, ...ofKubeconfigs]) },
  {
    files: ["apps/eve-bridge/src/**/*.ts"],
    ignores: ["**/*.test.ts", "**/*.fuzz.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            { regex: "^(?!node:|\\.)", message: "eve-bridge imports node: builtins only: it starts for each pod." },
          ],
        },
      ],
    },
  },
  {
    files: ["**/*.test.ts", "**/*.fuzz.ts", "**/testing/**/*.ts"],
    // Methods of object literals, which tests take apart, have no `this`.
    rules: { ...boundaries(["layer:test"]), "@typescript-eslint/unbound-method": "off" },
  },
);
