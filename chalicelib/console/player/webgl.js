// Pictures drawn by WebGL: a program over corners, with the picture as its texture.

/**
 * Prepare a canvas to draw a texture by a program; null where the browser has no WebGL.
 * @param {HTMLCanvasElement} canvas @param {string} vertex source @param {string} fragment source
 * @param {string[]} names of the attributes of a corner, each of two numbers @param {number[]} corners their numbers, corner by corner
 * @returns {{gl: WebGLRenderingContext, program: WebGLProgram} | null}
 */
export function prepared(canvas, vertex, fragment, names, corners) {
  const gl = canvas.getContext("webgl", { alpha: false, preserveDrawingBuffer: true });
  if (!gl) return null;
  const program = gl.createProgram();
  for (const [kind, source] of /** @type {[number, string][]} */ ([
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ])) {
    const shader = /** @type {WebGLShader} */ (gl.createShader(kind));
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(corners), gl.STATIC_DRAW);
  for (const [place, name] of names.entries()) {
    const location = gl.getAttribLocation(program, name);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, 2, gl.FLOAT, false, names.length * 8, place * 8);
  }
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
  for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
  return { gl, program };
}

/** Give a prepared context its picture. @param {WebGLRenderingContext} gl @param {HTMLCanvasElement | OffscreenCanvas} picture */
export const load = (gl, picture) => gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB, gl.RGB, gl.UNSIGNED_BYTE, picture);
