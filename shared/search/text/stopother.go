package text

// The stop words of languages other than English: articles, pronouns, prepositions, auxiliaries and question words.
const germanStop = `
aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis bist da damit dann
das dass daß dein deine dem den denn der des dessen deren dich die dies diese diesem diesen dieser dieses dir doch
dort du durch ein eine einem einen einer eines er es etwas euch euer für gegen gewesen habe haben hat hatte hatten
hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jene
jetzt kann kein keine keinem keinen keiner können könnte machen man manche mein meine mich mir mit muss müssen nach
nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so solche soll sollte
sondern sonst über um und uns unser unter viel vom von vor während war waren warst was weg weil weiter welche welchem
welchen welcher welches wenn wer werde werden wem wen wessen wie wieder will wir wird wo wofür woher wohin womit
worden wurde wurden zu zum zur zwar zwischen wann warum weshalb wieso wieviel viele vielen`

const spanishStop = `
a al algo algunas algunos ante antes aquel aquella como cómo con contra cual cuál cuáles cuales cuando cuándo cuanto
cuánto cuánta cuántos cuántas de del desde donde dónde durante e el él ella ellas ellos en entre era eran es esa ese
eso esta está estaba estas este esto estos están fue fueron ha había habían hace hacer hacia han has hasta hay la las
le les lo los más me mi mientras muy nada ni no nos o otra otras otro otros para pero poco por porque puede pueden qué
que quién quien quiénes quienes se sea según ser si sí sido sin sobre son su sus también tan tanto te tener tiene
tienen todo todos tu tus un una unas uno unos y ya yo`

const frenchStop = `
à au aucun aussi autre autres aux avec avoir car ce cela celle celui ces cet cette ceux chaque chez comme comment dans
de depuis des deux dont donc du elle elles en encore entre es est et était étaient été être eux fait faire fut il ils
je jusqu la laquelle le lequel les lesquels leur leurs lorsque lui ma mais même mes moi mon ne ni nos notre nous on
ont ou où par parce pas peut peuvent plus pour pourquoi quand quel quelle quelles quels que qui quoi sa sans se sera
ses si sont sous son sur ta tandis te tes toi ton tous tout toute toutes très tu un une vos votre vous y combien`

const italianStop = `
a ad agli ai al alla alle allo anche anni avere aveva ha hanno ho che chi ci come con contro cosa cui da dagli dai dal
dalla dalle dei del della delle dello degli di dopo dove durante e è ed era erano essere fra fu furono gli i il in io
la le lei li lo loro lui ma mi mia mio molto ne negli nei nel nella nelle nello noi non nostro o ogni per perché più
può poi prima quale quali quando quanti quanto quante quella quelle quello questa queste questi questo qui se sei si
sia siano sono stata state stati stato su sua sue sui sul sulla suo suoi tra tu tutti tutto un una uno vi voi quindi`

const portugueseStop = `
a à ao aos as às até com como da das de dela dele deles depois do dos durante e é ela elas ele eles em entre era eram
essa esse esta está estão este eu foi foram há isso isto já lhe mais mas me mesmo meu minha muito na não nas nem no
nos nós num numa o onde os ou para pela pelas pelo pelos pode podem por porque porquê qual quais quando quanto quantos
quantas que quê quem se sem ser seu seus são só sobre sua suas também te tem têm ter tinha um uma umas uns você vos`

const dutchStop = `
aan al alle als andere bij daar dan dat de der deze die dit doch doen door dus een eens elk en er ge geen geweest haar
had hadden heb hebben heeft hem het hier hij hoe hoeveel hun ik in is ja je kan kunnen kon konden maar me meer men met
mij mijn moet moeten na naar niet niets nog nu of om omdat onder ons onze ook op over reeds te tegen toch toen tot u
uit uw van veel voor waar waarom wanneer want waren was wat we wel welk welke werd werden wie wij worden wordt zal ze
zelf zich zij zijn zo zonder zou zullen`

// englishToo are stop words that occur in English texts as well, as names or as other
// words. They are evidence of no language.
const englishToo = `
ad al all also am are bin car come con data die dont door era fait hat hier male man me met note of om on once ons over par per plus
pour qui sea si sin so son sous sue sur te ten ton van want war will`
