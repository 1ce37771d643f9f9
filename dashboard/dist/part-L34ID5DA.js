var s=globalThis.trustedTypes,a=s?.createPolicy("read-html-file",{createHTML:e=>e})??{createHTML:e=>e},i=new Set(["SCRIPT","STYLE","NOSCRIPT","TEMPLATE","NAV","HEADER","FOOTER","ASIDE","FORM","IFRAME","SVG","HEAD"]);function l(e){let t=new DOMParser().parseFromString(a.createHTML(e),"text/html"),n=t.querySelectorAll("article"),c=t.querySelector("main")??(n.length===1?n[0]:t.body);return{title:t.title.trim()||(t.querySelector("h1")?.textContent??"").trim(),body:r(c).replace(/\n{3,}/g,`

`).trim()}}function r(e){let t="";for(let n of e.childNodes)n instanceof Element?t+=o(n):n.nodeType===Node.TEXT_NODE&&(t+=(n.textContent??"").replace(/\s+/g," "));return t}function o(e){let t=e.tagName.toUpperCase();if(i.has(t))return"";let n=/^H([1-6])$/.exec(t)?.[1];if(n)return`

${"#".repeat(Number(n))} ${r(e).trim()}

`;switch(t){case"PRE":return`

\`\`\`
${e.textContent??""}
\`\`\`

`;case"CODE":return"`"+(e.textContent??"")+"`";case"STRONG":case"B":return`**${r(e).trim()}**`;case"BR":return`
`;case"LI":return`
- ${r(e).trim()}`;case"A":{let c=e.getAttribute("href")??"";return/^https?:/.test(c)?`[${r(e).trim()}](${c})`:r(e)}case"TR":return`
| ${[...e.children].map(c=>r(c).trim().replace(/\|/g,"\\|")).join(" | ")} |`;case"P":case"DIV":case"SECTION":case"ARTICLE":case"MAIN":case"BLOCKQUOTE":case"UL":case"OL":case"DL":case"DT":case"DD":case"FIGURE":case"FIGCAPTION":case"DETAILS":case"SUMMARY":case"ADDRESS":case"CAPTION":case"TABLE":return`

${r(e).trim()}

`;default:return r(e)}}export{l as readPage};
