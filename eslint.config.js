// SPDX-License-Identifier: Apache-2.0
/** Lint for the whole workspace. `arrows` is the map of rooms in docs/architecture.md: who may import whom. */
import nx from "@nx/eslint-plugin";
import tseslint from "typescript-eslint";

/** Tag of a project -> tags of the projects that it may import. */
const arrows = {
  "layer:model": [],
  "layer:domain": ["layer:domain", "layer:model"],
  "layer:platform": ["layer:platform"],
  "layer:host": ["layer:platform", "layer:model"],
  "layer:app": ["layer:domain", "layer:platform", "layer:model"],
  "layer:node-app": ["layer:host", "layer:domain", "layer:platform", "layer:model"], // config-daemon alone
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

export default tseslint.config(
  { ignores: ["**/dist/**", "**/node_modules/**", "**/*.js", "**/*.mjs", "**/*.cjs", "**/*.gen.ts"] },
  {
    files: ["**/*.ts"],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { "@nx": nx },
    rules: {
      ...boundaries([]),
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      // `await using _lock = …` is held, not used.
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true },
      ],
      "no-restricted-imports": [
        "error",
        {
          paths: [foreign("koffi", "libs/netlink"), foreign("yaml", "libs/kube, apps/cli and tools")],
        },
      ],
    },
  },
  {
    files: ["libs/netlink/**/*.ts", "libs/kube/**/*.ts", "tools/**/*.ts", "apps/cli/**/*.ts", "e2e/**/*.ts"],
    rules: { "no-restricted-imports": "off" },
  },
  {
    files: ["apps/eve-bridge/src/**/*.ts"],
    ignores: ["**/*.test.ts"],
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
    files: ["**/*.test.ts", "**/testing/**/*.ts"],
    // Methods of object literals, which tests take apart, have no `this`.
    rules: { ...boundaries(["layer:test"]), "@typescript-eslint/unbound-method": "off" },
  },
);
