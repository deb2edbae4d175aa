// SPDX-License-Identifier: Apache-2.0
/** What releases and benchmarks use of the images. */
export { appImages, isAppName, type AppName } from "./app-image.ts";
export { compileCacheSettings, writeCompileCache } from "./build-context.ts";
export { ImagesError } from "./images-error.ts";
export { npmPackage, type NpmPackage } from "./npm-package.ts";
