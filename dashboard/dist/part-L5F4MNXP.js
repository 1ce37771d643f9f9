import{c as a,d as b,e as c}from"./part-EUPCCN5M.js";import"./part-GDZYXPZJ.js";import"./part-3IG6RMOP.js";import"./part-JXWLB65S.js";export{c as Tokens,b as scopes,a as sources};
